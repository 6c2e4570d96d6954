// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.tools;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import dev.sluice.examples.CmEndpoint;
import dev.sluice.verbs.cm.RdmaCmEvent;
import dev.sluice.verbs.cm.RdmaCmId;
import dev.sluice.verbs.cm.RdmaEventChannel;
import dev.sluice.verbs.ibv.IbvMr;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/**
 * The command {@code bin/verbs rping}: pings through rdma_cm, with another instance of itself or
 * with the rping of librdmacm. The client offers memory with data and memory without. The server
 * READs the former and WRITEs the data to the latter, until the client disconnects. {@link
 * ToolCommand.Timed} runs it on a daemon thread.
 */
@Command(
    name = "rping",
    description = {
      "Connects a client and a server by rdma_cm. The server READs the client's data and WRITEs"
          + " them back. Either side may be rping of rdmacm-utils.",
      "Addresses must be those of the RDMA device's net device."
    })
final class RpingCommand extends ToolCommand.Timed {
  /** Maximum size: the server registers so many bytes before it knows the client's size. */
  private static final int MAX_SIZE = 65536;

  /** Minimum size: room for the longest number of a ping. */
  private static final int MIN_SIZE = 26;

  /** The first letter of the data. */
  private static final int FIRST_LETTER = 'A';

  private static final int LETTERS = 'z' - 'A' + 1;

  @Parameters(
      arity = "0..1",
      paramLabel = "SERVER",
      description = "Host of the server; if it is absent, run as the server of one client")
  private @Nullable String server;

  @Option(
      names = {"-a", "--address"},
      paramLabel = "ADDRESS",
      description = "Address at which the server listens (default: all IPv4 addresses)")
  private String address = "0.0.0.0";

  @Option(
      names = {"-p", "--port"},
      paramLabel = "PORT",
      description = "Port of the server (default: ${DEFAULT-VALUE})")
  private int port = 7174;

  @Option(
      names = {"-S", "--size"},
      paramLabel = "BYTES",
      description =
          "Bytes of the data, 26 to 65536 (default: ${DEFAULT-VALUE}); the client's value counts,"
              + " but a server in C needs the same")
  private int size = 64;

  @Option(
      names = {"-C", "--count"},
      paramLabel = "PINGS",
      description = "Number of pings (default: ${DEFAULT-VALUE}); for the client")
  private int count = 10;

  @Option(
      names = {"-v", "--verbose"},
      description = "Print the data")
  private boolean verbose;

  @Option(
      names = {"-V", "--validate"},
      description = "Compare the returned data with the offered data; for the client")
  private boolean validate;

  @Override
  void run() throws IOException {
    require(
        size >= MIN_SIZE && size <= MAX_SIZE && count >= 1,
        "--size must be 26 to 65536 and --count positive");
    InetSocketAddress where = new InetSocketAddress(server == null ? address : server, port);
    if (where.isUnresolved()) {
      throw new IOException(where.getHostString() + ": the host name is not known");
    }
    try (Arena arena = Arena.ofShared();
        RdmaEventChannel events = RdmaEventChannel.create()) {
      RdmaCmId id = events.createId(RdmaCmId.PortSpace.TCP);
      if (server == null) {
        serve(id, where, events, arena);
      } else {
        connect(id, where, events, arena);
      }
    }
  }

  private void connect(RdmaCmId id, InetSocketAddress where, RdmaEventChannel events, Arena arena)
      throws IOException {
    id.resolveAddr(null, where, leftMs("resolving the address " + where));
    CmEndpoint.await(events, RdmaCmEvent.Type.ADDR_RESOLVED, this);
    id.resolveRoute(leftMs("resolving the route to " + where));
    CmEndpoint.await(events, RdmaCmEvent.Type.ROUTE_RESOLVED, this);
    RpingConnection connection = new RpingConnection(events, id, arena, this);
    id.connect(RpingConnection.PARAM);
    CmEndpoint.await(events, RdmaCmEvent.Type.ESTABLISHED, this);
    ping(connection, arena);
    id.disconnect();
    CmEndpoint.await(events, RdmaCmEvent.Type.DISCONNECTED, this);
  }

  private void ping(RpingConnection connection, Arena arena) throws IOException {
    MemorySegment source = arena.allocate(size);
    MemorySegment sink = arena.allocate(size);
    IbvMr sourceRegion = connection.register(source);
    IbvMr sinkRegion = connection.register(sink);
    for (int i = 0; i < count; i++) {
      fill(source, i);
      sink.fill((byte) 0);
      offer(connection, sourceRegion);
      offer(connection, sinkRegion);
      if (validate && source.mismatch(sink) >= 0) {
        throw new IOException("ping " + i + " came back with other data");
      }
      display("ping data: ", sink, size);
    }
    out().println(count + " pings of " + size + " bytes");
  }

  /** Sends an advertisement and waits until the server has used it. */
  private void offer(RpingConnection connection, IbvMr region) throws IOException {
    connection.send(new RpingConnection.Advertisement(region.address(), region.rkey(), size));
    if (connection.receive().isEmpty()) {
      throw new IOException("the server disconnected instead of answering");
    }
  }

  /** Fills in text that ends with a zero byte: the server in C returns no more than that. */
  private static void fill(MemorySegment data, int number) {
    byte[] head = ("rdma-ping-" + number + ": ").getBytes(StandardCharsets.US_ASCII);
    for (int i = 0; i < data.byteSize() - 1; i++) {
      int letter = FIRST_LETTER + (number + i - head.length) % LETTERS;
      data.set(JAVA_BYTE, i, i < head.length ? head[i] : (byte) letter);
    }
    data.set(JAVA_BYTE, data.byteSize() - 1, (byte) 0);
  }

  /** Serves one client. */
  private void serve(
      RdmaCmId listening, InetSocketAddress where, RdmaEventChannel events, Arena arena)
      throws IOException {
    listening.setReuseAddress(true);
    listening.bind(where);
    listening.listen(1);
    RdmaCmId client = CmEndpoint.await(events, RdmaCmEvent.Type.CONNECT_REQUEST, this).id();
    RpingConnection connection = new RpingConnection(events, client, arena, this);
    client.accept(RpingConnection.PARAM);
    CmEndpoint.await(events, RdmaCmEvent.Type.ESTABLISHED, this);
    answer(connection, arena);
    client.disconnect();
  }

  private void answer(RpingConnection connection, Arena arena) throws IOException {
    MemorySegment data = arena.allocate(MAX_SIZE);
    IbvMr region = connection.register(data);
    int pings = 0;
    Optional<RpingConnection.Advertisement> source = connection.receive();
    for (; source.isPresent(); source = connection.receive()) {
      int bytes = source.get().size();
      if (bytes <= 0 || bytes > MAX_SIZE) {
        throw new IOException("the client offers " + bytes + " bytes; 1 to 65536 are allowed");
      }
      connection.read(data.asSlice(0, bytes), region, source.get());
      display("server ping data: ", data, bytes);
      connection.send(RpingConnection.GO_AHEAD);
      RpingConnection.Advertisement sink =
          connection
              .receive()
              .orElseThrow(() -> new IOException("the client disconnected during a ping"));
      connection.write(data.asSlice(0, Math.clamp(sink.size(), 0, bytes)), region, sink);
      connection.send(RpingConnection.GO_AHEAD);
      pings++;
    }
    out().println("served " + pings + " pings");
  }

  /** Prints data with --verbose. */
  private void display(String title, MemorySegment data, int bytes) {
    if (verbose) {
      byte[] text = data.asSlice(0, bytes - 1).toArray(JAVA_BYTE);
      out().println(title + new String(text, StandardCharsets.US_ASCII));
    }
  }
}
