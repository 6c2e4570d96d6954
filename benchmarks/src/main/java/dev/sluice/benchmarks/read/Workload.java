// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks.read;

import dev.sluice.benchmarks.Sizes;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * Messages to measure: their latency if one is outstanding at a time, otherwise their bandwidth.
 * {@link ReadCommand} lists them; {@link MeasuringTool} makes options of them.
 *
 * @param bytes bytes of one message
 * @param inFlight number of outstanding messages
 */
record Workload(Operation operation, int bytes, int inFlight) {
  /** Limit of outstanding bytes; more would not fit an executor's buffers either. */
  private static final long MAX_BYTES_IN_FLIGHT = 64L << 20;

  /** Returns every size with every depth, except combinations above the limit. */
  static List<Workload> grid(Operation operation, List<Integer> sizes, List<Integer> depths) {
    List<Workload> grid = new ArrayList<>();
    for (int bytes : sizes) {
      for (int inFlight : depths) {
        if ((long) bytes * inFlight <= MAX_BYTES_IN_FLIGHT) {
          grid.add(new Workload(operation, bytes, inFlight));
        }
      }
    }
    return grid;
  }

  /** Returns the name of its row. */
  String name() {
    return operation.label() + "-verbs-" + Sizes.binary(bytes) + "-x" + inFlight;
  }

  boolean isLatency() {
    return inFlight == 1;
  }

  /**
   * An RDMA operation that perftest and bin/verbs measure. Its label is in the names of programs
   * and rows, so a new one needs a program of perftest with that name.
   */
  enum Operation {
    READ,
    WRITE,
    SEND;

    /** Returns the name in options, programs and rows. */
    String label() {
      return name().toLowerCase(Locale.ROOT);
    }

    /**
     * Returns the maximum number of messages to measure latency. WRITE and SEND go back and forth
     * between two processes, which may share a processor and then wait for its scheduler.
     */
    int mostLatencies() {
      return this == READ ? 20_000 : 1_000;
    }

    /**
     * Returns options of perftest's latency program in addition to those of bandwidth. They make it
     * send from registered memory, as bin/verbs does, rather than inside the work request.
     */
    List<String> latencyOptions() {
      return this == READ ? List.of() : List.of("-I", "0");
    }
  }
}
