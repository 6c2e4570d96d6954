package dev.sluice.benchmarks.verbs;

import java.util.List;

/**
 * READs that both programs measure.
 *
 * @param bandwidth else latency
 * @param bytes of a READ
 * @param iterations READs
 */
record VerbsCase(boolean bandwidth, int bytes, int iterations) {
  /** About half a second each where the device is soft-RoCE. */
  static final List<VerbsCase> ALL =
      List.of(
          new VerbsCase(true, 4 << 10, 10_000),
          new VerbsCase(true, 64 << 10, 2_000),
          new VerbsCase(true, 1 << 20, 150),
          new VerbsCase(false, 16, 5_000),
          new VerbsCase(false, 4 << 10, 5_000));

  String name() {
    String size =
        bytes < 1 << 10 ? bytes + " B" : bytes < 1 << 20 ? (bytes >> 10) + " KiB" : "1 MiB";
    return (bandwidth ? "bandwidth " : "latency ") + size;
  }

  String unit() {
    return bandwidth ? "MiB/s" : "us";
  }
}
