// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks.read;

import java.util.List;
import java.util.Locale;

/**
 * An RDMA operation that perftest and bin/verbs measure. Its label is in the names of programs and
 * rows, so a new one needs a program of perftest with that name.
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
