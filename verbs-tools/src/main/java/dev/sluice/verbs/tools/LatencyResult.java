// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.tools;

import java.util.Arrays;

/**
 * Latencies of one message in nanoseconds, without the time of reading the clock. {@link
 * LatencyRun} creates it; {@link LatencyCommand} prints it.
 *
 * @param count number of measured messages
 * @param clock the time of reading the clock that was subtracted
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
   * @param stamps nanoseconds: the start of each iteration, and the end of the last iteration
   * @param clockNanos time between two adjacent readings of the clock
   * @param messages number of messages in an iteration
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
