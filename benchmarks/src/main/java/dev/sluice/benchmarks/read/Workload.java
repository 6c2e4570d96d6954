package dev.sluice.benchmarks.read;

import java.util.List;

/**
 * Transfers to measure.
 *
 * @param name as in results
 * @param bytes of one transfer
 * @param inFlight transfers under way at a time
 * @param count transfers of one measurement
 */
record Workload(String name, int bytes, int inFlight, int count) {
  static final List<Workload> ALL =
      List.of(
          new Workload("1 MiB stream, 8 in flight", 1 << 20, 8, 512),
          new Workload("16 B latency", 16, 1, 5_000),
          new Workload("4 KiB rate, 64 in flight", 4 << 10, 64, 50_000));

  /** Of {@link #figure}. */
  String unit() {
    return inFlight == 1 ? "us" : bytes >= 1 << 20 ? "MB/s" : "1000/s";
  }

  /** What a measurement says: microseconds each, megabytes or thousands a second. */
  double figure(long nanos) {
    double seconds = nanos / 1e9;
    return switch (unit()) {
      case "us" -> seconds * 1e6 / count;
      case "MB/s" -> (double) bytes * count / 1e6 / seconds;
      default -> count / 1e3 / seconds;
    };
  }

  /** Like a ratio of speeds, above 1 where {@code nanos} is faster than {@code otherNanos}. */
  static double speed(long nanos, long otherNanos) {
    return (double) otherNanos / nanos;
  }

  /** Where transfer {@code i} begins in the peer's memory. */
  long offset(long i, long memoryBytes) {
    return i * bytes % (memoryBytes - bytes);
  }
}
