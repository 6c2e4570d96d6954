// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.tools;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import dev.sluice.examples.CmEndpoint;
import dev.sluice.verbs.cm.RdmaCmEvent;
import dev.sluice.verbs.cm.RdmaCmId;
import dev.sluice.verbs.cm.RdmaEventChannel;
import dev.sluice.verbs.ibv.IbvMr;
import java.io.IOException;
import java.io.PrintWriter;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;

/**
 * The client of rping. It offers data for the server to READ, gets them back by a WRITE, and
 * compares them. {@link RpingCommand} runs it once, on one thread, which opens and closes the event
 * channel and the memory.
 */
record RpingClient(RpingCommand options, Deadline deadline, PrintWriter out) {
  /** The first letter of the data. */
  private static final int FIRST_LETTER = 'A';

  private static final int LETTERS = 'z' - 'A' + 1;

  void run(InetSocketAddress server) throws IOException {
    try (Arena arena = Arena.ofShared();
        RdmaEventChannel events = RdmaEventChannel.create()) {
      RdmaCmId id = events.createId(RdmaCmId.PortSpace.TCP);
      id.resolveAddr(null, server, deadline.leftMs("resolving the address " + server));
      CmEndpoint.await(events, RdmaCmEvent.Type.ADDR_RESOLVED, deadline);
      id.resolveRoute(deadline.leftMs("resolving the route to " + server));
      CmEndpoint.await(events, RdmaCmEvent.Type.ROUTE_RESOLVED, deadline);
      RpingConnection connection = new RpingConnection(events, id, arena, deadline);
      id.connect(RpingConnection.PARAM);
      CmEndpoint.await(events, RdmaCmEvent.Type.ESTABLISHED, deadline);
      ping(connection, arena);
      id.disconnect();
      CmEndpoint.await(events, RdmaCmEvent.Type.DISCONNECTED, deadline);
    }
  }

  private void ping(RpingConnection connection, Arena arena) throws IOException {
    int size = options.size();
    MemorySegment source = arena.allocate(size);
    MemorySegment sink = arena.allocate(size);
    IbvMr sourceRegion = connection.register(source);
    IbvMr sinkRegion = connection.register(sink);
    for (int i = 0; i < options.count(); i++) {
      fill(source, i);
      sink.fill((byte) 0);
      offer(connection, sourceRegion, size);
      offer(connection, sinkRegion, size);
      if (options.validates() && source.mismatch(sink) >= 0) {
        throw new IOException("ping " + i + " came back with other data");
      }
      options.display("ping data: ", sink, size, out);
    }
    out.println(options.count() + " pings of " + size + " bytes");
  }

  /** Sends an advertisement and waits until the server has used it. */
  private static void offer(RpingConnection connection, IbvMr region, int size) throws IOException {
    connection.send(new RpingAdvertisement(region.address(), region.rkey(), size));
    connection
        .receive()
        .orElseThrow(() -> new IOException("the server disconnected instead of answering"));
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
}
