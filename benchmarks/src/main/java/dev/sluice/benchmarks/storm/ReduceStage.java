package dev.sluice.benchmarks.storm;

import dev.sluice.benchmarks.CompletedStages;
import org.apache.spark.executor.TaskMetrics;
import org.apache.spark.scheduler.StageInfo;

/**
 * A stage that read a shuffle, or several, in Spark's own figures; sums over their tasks.
 *
 * @param wallSeconds from submission to completion
 * @param taskSeconds run time of the tasks
 * @param taskCpuSeconds CPU time of the threads of the tasks
 * @param deserializeSeconds before they ran
 * @param fetchWaitSeconds in which they waited for blocks
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
