// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks.storm;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.benchmarks.storm.StormJob.ReduceStage;
import dev.sluice.testkit.Stages;
import org.apache.spark.executor.TaskMetrics;
import org.apache.spark.scheduler.SparkListenerStageCompleted;
import org.apache.spark.scheduler.StageInfo;
import org.junit.jupiter.api.Test;
import scala.Option;
import scala.collection.immutable.Nil$;
import scala.collection.immutable.Seq;

class ReduceStageTest {
  private final Stages stages = new Stages();

  @Test
  void aReduceStageIsTimedBySparksOwnFigures() throws Exception {
    TaskMetrics tasks = new TaskMetrics();
    tasks.setExecutorRunTime(4_600);

    stages.onStageCompleted(completed(tasks, null, 1_000, 3_900));

    assertThat(ReduceStage.of(stages.await())).isEqualTo(new ReduceStage(2.9, 4.6));
  }

  @Test
  void severalAreOne() {
    assertThat(new ReduceStage(2.5, 4.5).plus(new ReduceStage(1, 2)))
        .isEqualTo(new ReduceStage(3.5, 6.5));
  }

  @Test
  void remoteBytesOfAllStagesCountButOnlyReduceStagesAreTimed() throws Exception {
    stages.onStageCompleted(completed(reading(100), 5, 0, 10));
    stages.onStageCompleted(completed(reading(20), null, 10, 11));
    stages.onStageCompleted(completed(reading(3), null, 11, 13));

    assertThat(stages.remoteBytes()).isEqualTo(123);
    assertThat(ReduceStage.of(stages.await()).wallSeconds()).isEqualTo(0.001);
    assertThat(ReduceStage.of(stages.await()).wallSeconds()).isEqualTo(0.002);
  }

  private static TaskMetrics reading(long bytes) {
    TaskMetrics tasks = new TaskMetrics();
    tasks.shuffleReadMetrics().incRemoteBytesRead(bytes);
    return tasks;
  }

  /**
   * @param writes the shuffle that the stage writes; null for the last stage of a job
   */
  private static SparkListenerStageCompleted completed(
      TaskMetrics tasks, Integer writes, long submissionMs, long completionMs) {
    StageInfo stage =
        new StageInfo(
            0, 0, "stage", 1, none(), none(), "", tasks, none(), Option.apply(writes), 0, false, 0);
    stage.submissionTime_$eq(Option.apply(submissionMs));
    stage.completionTime_$eq(Option.apply(completionMs));
    return new SparkListenerStageCompleted(stage);
  }

  @SuppressWarnings("unchecked")
  private static <T> Seq<T> none() {
    return (Seq<T>) Nil$.MODULE$;
  }
}
