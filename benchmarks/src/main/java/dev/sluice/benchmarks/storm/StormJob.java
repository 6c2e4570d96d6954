// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks.storm;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.sluice.benchmarks.SluiceTotals;
import dev.sluice.testkit.Commands;
import dev.sluice.testkit.Directories;
import dev.sluice.testkit.DriverProcess;
import dev.sluice.testkit.Executors;
import dev.sluice.testkit.Executors.Effort;
import dev.sluice.testkit.Executors.Measured;
import dev.sluice.testkit.Stages;
import dev.sluice.testkit.Sums;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import org.apache.spark.Dependency;
import org.apache.spark.ShuffleDependency;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkContext;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.rdd.RDD;
import org.apache.spark.scheduler.StageInfo;
import scala.concurrent.Await;
import scala.concurrent.duration.Duration;

/**
 * The driver process of a storm: reads the same map outputs repeatedly or, with {@link
 * StormCase#newShuffles}, writes a shuffle in each repetition and reads it, on its main thread. It
 * is configured by system properties, and writes its result to a file when all repetitions are
 * over. {@link StormRunner} starts it and waits for its end.
 */
public record StormJob(StormCase storm, Path localDirectory) {
  /** Share of dropped bytes that must come from disk; the kernel cannot drop all pages. */
  private static final double MIN_FROM_DISK = 0.9;

  /**
   * @param arguments the case as JSON, the number of all repetitions, and the result file
   */
  public static void main(String[] arguments) throws Exception {
    StormCase storm = new ObjectMapper().readValue(arguments[0], StormCase.class);
    int count = Integer.parseInt(arguments[1]);
    DriverProcess.measure(
        arguments[2],
        (spark, stages) -> {
          SparkConf conf = spark.getConf();
          StormJob job = new StormJob(storm, Path.of(conf.get("spark.local.dir", "")));
          List<Repetition> repetitions = job.repeat(spark, count, stages);
          return new StormResult(repetitions, SluiceTotals.await(conf, stages));
        });
  }

  private List<Repetition> repeat(JavaSparkContext spark, int count, Stages stages)
      throws Exception {
    List<Repetition> repetitions = new ArrayList<>();
    if (storm.newShuffles()) {
      for (int i = 0; i < count; i++) {
        Measured<WrittenShuffle> written =
            Executors.measure(() -> storm.workload().write(spark, storm));
        repetitions.add(read(written.effort(), written.result()::read, stages));
        written.result().remove();
      }
    } else {
      Supplier<Sums> job = storm.workload().prepare(spark, storm);
      for (int i = 0; i < count; i++) {
        repetitions.add(read(Effort.NONE, job, stages));
      }
    }
    return repetitions;
  }

  private Repetition read(Effort map, Supplier<Sums> job, Stages stages) throws Exception {
    long cold = storm.cold() ? dropMapOutputs() : 0;
    long disk = Executors.diskBytes();
    Measured<Sums> sums = Executors.measure(job::get);
    if (Executors.diskBytes() - disk < MIN_FROM_DISK * cold) {
      throw new IllegalStateException(
          "only %d of %d bytes of map outputs were read from disk, the others from memory"
              .formatted(Executors.diskBytes() - disk, cold));
    }
    return new Repetition(sums.result(), map, sums.effort(), reduceStages(stages));
  }

  private ReduceStage reduceStages(Stages stages) throws Exception {
    ReduceStage all = ReduceStage.of(stages.await());
    for (int i = 1; i < storm.workload().jobs(); i++) {
      all = all.plus(ReduceStage.of(stages.await()));
    }
    return all;
  }

  /**
   * Drops the map outputs from the page cache, except pages that are mapped or pinned.
   *
   * @return their bytes; 0 before the map outputs are written
   */
  private long dropMapOutputs() throws IOException {
    long bytes = 0;
    for (Path file : Directories.files(localDirectory, name -> name.endsWith(".data"))) {
      Commands.dropFromCache(file);
      bytes += Files.size(file);
    }
    return bytes;
  }

  /**
   * A shuffle whose map stage is over. It is written, read and removed in three steps on the
   * driver's main thread, so that each can be measured.
   */
  record WrittenShuffle(SparkContext spark, int id, JavaRDD<long[]> sums) {
    /**
     * Runs the map stage.
     *
     * @param sums reads one shuffle
     */
    static WrittenShuffle write(JavaSparkContext spark, JavaRDD<long[]> sums) throws Exception {
      ShuffleDependency<?, ?, ?> shuffle = shuffle(sums.rdd());
      Await.result(spark.sc().submitMapStage(shuffle), Duration.Inf());
      return new WrittenShuffle(spark.sc(), shuffle.shuffleId(), sums);
    }

    private static ShuffleDependency<?, ?, ?> shuffle(RDD<?> rdd) {
      Dependency<?> parent = rdd.dependencies().head();
      return parent instanceof ShuffleDependency<?, ?, ?> shuffle ? shuffle : shuffle(parent.rdd());
    }

    /** Runs the reduce stage. */
    Sums read() {
      return Sums.of(sums.collect());
    }

    /** Removes the shuffle everywhere, as Spark does when the program has dropped it. */
    void remove() {
      spark.cleaner().get().doCleanupShuffle(id, true);
    }
  }

  /**
   * Result of a driver process ({@link StormJob}), which sends it to the command in a file of JSON.
   *
   * @param repetitions repetitions in order; the first ones have warmed the executors up
   * @param totals Sluice's counters
   */
  record StormResult(List<Repetition> repetitions, SluiceTotals totals) {}

  /**
   * One run of the reduce stage and, with new shuffles, of the map stage before it.
   *
   * @param map effort of the map stage
   * @param reduce effort of all jobs after that
   * @param stage sum of the reduce stages of all these jobs
   */
  record Repetition(Sums sums, Effort map, Effort reduce, ReduceStage stage) {}

  /**
   * A stage that read one or more shuffles, in Spark's metrics; sums over its tasks.
   *
   * @param wallSeconds time from submission to completion
   * @param taskSeconds run time of the tasks
   */
  record ReduceStage(double wallSeconds, double taskSeconds) {
    static ReduceStage of(StageInfo stage) {
      return new ReduceStage(
          Stages.wallSeconds(stage), stage.taskMetrics().executorRunTime() / 1e3);
    }

    ReduceStage plus(ReduceStage other) {
      return new ReduceStage(wallSeconds + other.wallSeconds, taskSeconds + other.taskSeconds);
    }
  }
}
