package dev.sluice.benchmarks.storm;

import dev.sluice.benchmarks.SluiceTotals;
import java.util.List;
import java.util.Map;

/**
 * What a driver process came to; travels to the command in a file.
 *
 * @param repetitions in order; the first ones have warmed the executors up
 * @param remoteBytes sum of Spark's own remoteBytesRead over all tasks
 * @param totals Sluice's own counters
 */
record StormResult(List<Repetition> repetitions, long remoteBytes, SluiceTotals totals) {

  /**
   * One run of the reduce stage.
   *
   * @param seconds of all its jobs
   * @param stage the last job's
   * @param executorCpuSeconds CPU time of the processes of the executors, by executor id
   */
  record Repetition(
      Sums sums, double seconds, ReduceStage stage, Map<String, Double> executorCpuSeconds) {}
}
