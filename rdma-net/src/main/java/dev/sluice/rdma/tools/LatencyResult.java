package dev.sluice.rdma.tools;

import java.util.Arrays;

/**
 * Latencies of one message, nanoseconds, less what reading the clock takes.
 *
 * @param count messages that were timed
 * @param clock what was taken off
 */
record LatencyResult(
    int count,
    double min,
    double max,
    double typical,
    double average,
    double deviation,
    double p99,
    double p999,
    long clock) {

  /**
   * @param stamps nanoseconds: when each iteration began, and when the last one ended
   * @param clockNanos between two readings of the clock with nothing between them
   * @param messages of an iteration
   */
  static LatencyResult of(long[] stamps, long clockNanos, int messages) {
    double[] latencies = new double[stamps.length - 1];
    for (int i = 0; i < latencies.length; i++) {
      latencies[i] = (double) (stamps[i + 1] - stamps[i] - clockNanos) / messages;
    }
    Arrays.sort(latencies);
    double average = Arrays.stream(latencies).average().orElseThrow();
    double variance =
        Arrays.stream(latencies).map(l -> (l - average) * (l - average)).average().orElseThrow();
    return new LatencyResult(
        latencies.length,
        latencies[0],
        latencies[latencies.length - 1],
        percentile(latencies, 0.5),
        average,
        Math.sqrt(variance),
        percentile(latencies, 0.99),
        percentile(latencies, 0.999),
        clockNanos);
  }

  private static double percentile(double[] sorted, double share) {
    return sorted[Math.min((int) (sorted.length * share), sorted.length - 1)];
  }
}
