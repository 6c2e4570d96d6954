// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks.storm;

import dev.sluice.benchmarks.SluiceTotals;
import dev.sluice.testkit.Sums;
import java.util.List;
import java.util.Map;

/**
 * Result of a driver process ({@link StormJob}), which sends it to the command in a file of JSON.
 *
 * @param repetitions repetitions in order; the first ones have warmed the executors up
 * @param remoteBytes sum of Spark's remoteBytesRead over all tasks
 * @param totals Sluice's counters
 */
record StormResult(List<Repetition> repetitions, long remoteBytes, SluiceTotals totals) {

  /**
   * One run of the reduce stage.
   *
   * @param seconds wall time of all its jobs
   * @param stage sum of the reduce stages of all its jobs
   * @param executorCpuSeconds CPU time of the executor processes, by executor id
   */
  record Repetition(
      Sums sums, double seconds, ReduceStage stage, Map<String, Double> executorCpuSeconds) {}
}
