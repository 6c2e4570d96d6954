// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.tools;

import java.io.IOException;
import picocli.CommandLine.Option;

/**
 * Options of bw and lat, with the letters of perftest. Both sides use the client's options, which
 * {@link PerfParameters} carries; the command first asks for a {@link #problem}.
 */
final class PerfOptions {
  private static final int DEFAULT_WARM_UP = 5000;

  @Option(
      names = {"-o", "--op"},
      paramLabel = "OPERATION",
      defaultValue = "read",
      description =
          "read, write, send, or the atomics fetch_add and cmp_swap (default: ${DEFAULT-VALUE})")
  private PerfOperation operation;

  @Option(
      names = {"-s", "--size"},
      paramLabel = "BYTES",
      description = "Bytes of a message (default: bw 65536, lat 2; an atomic has 8)")
  private Integer size;

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
  private Integer warmUp;

  @Option(
      names = {"-t", "--tx-depth", "--depth"},
      paramLabel = "REQUESTS",
      description = "Work requests that are posted at a time (default: ${DEFAULT-VALUE})")
  private int depth = 128;

  @Option(
      names = "--outs",
      paramLabel = "READS",
      description = "READs or atomics under way at a time (default: the device's maximum)")
  private Integer readsInFlight;

  @Option(
      names = {"-m", "--mtu"},
      paramLabel = "BYTES",
      description = "Path MTU: 256, 512, 1024, 2048 or 4096 bytes (default: the port's)")
  private Integer mtu;

  @Option(
      names = {"-e", "--events"},
      description = "Sleep on completion events (default: poll)")
  private boolean events;

  @Option(names = "--json", description = "Print the result as one JSON object")
  private boolean json;

  PerfOperation operation() {
    return operation;
  }

  boolean events() {
    return events;
  }

  boolean json() {
    return json;
  }

  /** Describes the mistake in the options; empty if there is none. */
  String problem() {
    if (iters <= 0 || depth <= 0 || (size != null && size <= 0)) {
      return "--iters, --size and --tx-depth must be positive";
    }
    if (operation.isAtomic() && size != null && size != PerfOperation.ATOMIC_BYTES) {
      return "an atomic has " + PerfOperation.ATOMIC_BYTES + " bytes";
    }
    return "";
  }

  /**
   * @param durationSeconds 0 to count messages
   */
  PerfParameters parameters(
      PerfParameters.Test test, int defaultSize, int durationSeconds, LocalPort port)
      throws IOException {
    return new PerfParameters(
        test,
        operation,
        operation.isAtomic() ? PerfOperation.ATOMIC_BYTES : size == null ? defaultSize : size,
        iters,
        warmUp == null ? Math.min(iters, DEFAULT_WARM_UP) : warmUp,
        durationSeconds,
        depth,
        readsInFlight(port),
        mtu == null ? port.activeMtu().bytes() : mtu,
        events);
  }

  private int readsInFlight(LocalPort port) throws IOException {
    int most = port.maxReadsInFlight();
    return readsInFlight == null ? most : Math.min(readsInFlight, most);
  }
}
