// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks.storm;

import dev.sluice.benchmarks.CompletedStages;
import dev.sluice.benchmarks.SluiceTotals;
import dev.sluice.testkit.Sums;
import java.util.List;
import java.util.Map;
import org.apache.spark.executor.TaskMetrics;
import org.apache.spark.scheduler.StageInfo;

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

  /**
   * A stage that read one or more shuffles, in Spark's metrics; sums over its tasks. {@link
   * StormJob} makes it in the driver and sends it to the command as JSON.
   *
   * @param wallSeconds time from submission to completion
   * @param taskSeconds run time of the tasks
   * @param taskCpuSeconds CPU time of the tasks' threads
   * @param deserializeSeconds time before the tasks ran
   * @param fetchWaitSeconds time in which the tasks waited for blocks
   */
  record ReduceStage(
      double wallSeconds,
      double taskSeconds,
      double taskCpuSeconds,
      double deserializeSeconds,
      double fetchWaitSeconds) {
    private static final double MS_PER_S = 1e3;
    private static final double NS_PER_S = 1e9;

    static ReduceStage of(StageInfo stage) {
      TaskMetrics tasks = stage.taskMetrics();
      return new ReduceStage(
          CompletedStages.wallSeconds(stage),
          tasks.executorRunTime() / MS_PER_S,
          tasks.executorCpuTime() / NS_PER_S,
          tasks.executorDeserializeTime() / MS_PER_S,
          tasks.shuffleReadMetrics().fetchWaitTime() / MS_PER_S);
    }

    ReduceStage plus(ReduceStage other) {
      return new ReduceStage(
          wallSeconds + other.wallSeconds,
          taskSeconds + other.taskSeconds,
          taskCpuSeconds + other.taskCpuSeconds,
          deserializeSeconds + other.deserializeSeconds,
          fetchWaitSeconds + other.fetchWaitSeconds);
    }
  }
}
