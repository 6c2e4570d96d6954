// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.tools;

import dev.sluice.examples.Rendezvous;
import dev.sluice.verbs.tools.PerfParameters.Operation;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/**
 * A measurement between two sides that connect over TCP; its options have the letters of perftest.
 * {@link BandwidthCommand} and {@link LatencyCommand} are the commands; {@link ToolCommand.Timed}
 * runs each on a daemon thread. The client sends {@link PerfParameters}. The server ignores its own
 * options, except those of its device, port and deadline. Both sides connect their queue pairs. At
 * the end each side waits for the other, since closing its queue pair would fail the peer's
 * requests.
 */
abstract class PerfCommand extends PeerCommand {
  private static final int DEFAULT_WARM_UP = 5000;

  private final PerfParameters.Test test;

  @Option(
      names = {"-o", "--op"},
      paramLabel = "OPERATION",
      defaultValue = "read",
      description =
          "read, write, send, or the atomics fetch_add and cmp_swap (default: ${DEFAULT-VALUE})")
  private Operation operation;

  @Option(
      names = {"-s", "--size"},
      paramLabel = "BYTES",
      description = "Bytes of a message (default: bw 65536, lat 2; an atomic has 8)")
  private @Nullable Integer size;

  @Option(
      names = {"-n", "--iters"},
      paramLabel = "MESSAGES",
      description = "Messages to measure (default: ${DEFAULT-VALUE})")
  private int iters = 1000;

  @Option(
      names = "--warm-up",
      paramLabel = "MESSAGES",
      description =
          "Messages before the measured ones (default: as many, at most " + DEFAULT_WARM_UP + ")")
  private @Nullable Integer warmUp;

  @Option(
      names = {"-t", "--tx-depth", "--depth"},
      paramLabel = "REQUESTS",
      description = "Limit of outstanding work requests (default: ${DEFAULT-VALUE})")
  private int depth = 128;

  @Option(
      names = "--outs",
      paramLabel = "READS",
      description = "READs or atomics under way at a time (default: the device's maximum)")
  private @Nullable Integer readsInFlight;

  @Option(
      names = {"-m", "--mtu"},
      paramLabel = "BYTES",
      description = "Path MTU: 256, 512, 1024, 2048 or 4096 bytes (default: the port's)")
  private @Nullable Integer mtu;

  @Option(
      names = {"-e", "--events"},
      description = "Sleep on completion events (default: poll)")
  private boolean events;

  @Option(names = "--json", description = "Print the result as one JSON object")
  private boolean json;

  PerfCommand(PerfParameters.Test test) {
    this.test = test;
  }

  /** Runs the client's side and prints the result. */
  abstract void measure(PerfEndpoint endpoint) throws IOException;

  /** Runs the server's side. */
  abstract void serve(PerfEndpoint endpoint) throws IOException;

  /**
   * Prints the result of a measurement.
   *
   * @param table format of the values below their heading
   * @param members format of the values as members of a JSON object
   */
  final void print(PerfParameters parameters, String table, String members, Object... values) {
    String way = parameters.events() ? "events" : "polling";
    String operationName = parameters.operation().name().toLowerCase(Locale.ROOT);
    String object = "{\"op\":\"" + operationName + "\",\"completion\":\"" + way + "\"," + members;
    out().printf(Locale.ROOT, json ? object + "}%n" : table, values);
  }

  @Override
  void run() throws IOException {
    require(
        !events || operation != Operation.WRITE || test != PerfParameters.Test.LAT,
        "--events cannot be used with --op write: a WRITE raises no event at its target");
    require(
        iters > 0 && depth > 0 && isPositive(size) && isPositive(readsInFlight),
        "--iters, --size, --tx-depth and --outs must be positive");
    require(warmUp == null || warmUp >= 0, "--warm-up must not be negative");
    require(
        !operation.isAtomic() || size == null || size == Operation.ATOMIC_BYTES,
        "an atomic has " + Operation.ATOMIC_BYTES + " bytes");
    try (Arena arena = Arena.ofShared();
        LocalPort port = openPort();
        Rendezvous peer = meet()) {
      PerfParameters agreed;
      if (isClient()) {
        agreed = parameters(port);
        peer.write(agreed.toWire());
      } else {
        byte[] wire = peer.read(PerfParameters.WIRE_LENGTH, "its parameters");
        agreed = PerfParameters.fromWire(wire, test);
      }
      PerfEndpoint endpoint = new PerfEndpoint(port, arena, agreed, peer, this);
      if (isClient()) {
        measure(endpoint);
      } else {
        serve(endpoint);
      }
      peer.sync("that it is done");
      // The side that received the data checks them.
      if (isClient() == agreed.operation().fetches()) {
        endpoint.check();
      }
    }
  }

  private static boolean isPositive(@Nullable Integer option) {
    return option == null || option > 0;
  }

  private PerfParameters parameters(LocalPort port) throws IOException {
    int most = port.maxReadsInFlight();
    int defaultSize = test == PerfParameters.Test.BW ? 65536 : 2;
    return new PerfParameters(
        test,
        operation,
        operation.isAtomic() ? Operation.ATOMIC_BYTES : size == null ? defaultSize : size,
        iters,
        warmUp == null ? Math.min(iters, DEFAULT_WARM_UP) : warmUp,
        depth,
        readsInFlight == null ? most : Math.min(readsInFlight, most),
        mtu == null ? port.activeMtu().bytes() : mtu,
        events);
  }
}
