// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks.storm;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.sluice.benchmarks.SluiceTotals;
import dev.sluice.testkit.AnsweringProcess;
import dev.sluice.testkit.Commands;
import dev.sluice.testkit.Directories;
import dev.sluice.testkit.Executors;
import dev.sluice.testkit.JsonFile;
import dev.sluice.testkit.Stages;
import dev.sluice.testkit.Sums;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.scheduler.StageInfo;

/**
 * The driver process of a storm: writes the map outputs once and reads them repeatedly, on its main
 * thread. It is configured by system properties, and writes its result to a file when all
 * repetitions are over. {@link StormRunner} starts it and waits for its end.
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
    Path result = Path.of(arguments[2]);
    PrintStream out = AnsweringProcess.claimOutput();
    SparkConf conf = new SparkConf();
    try (JavaSparkContext spark = new JavaSparkContext(conf)) {
      Stages stages = new Stages();
      spark.sc().addSparkListener(stages);
      Executors.await(spark);
      StormJob job = new StormJob(storm, Path.of(conf.get("spark.local.dir", "")));
      List<Repetition> repetitions =
          job.repeat(storm.workload().prepare(spark, storm), count, stages);
      long remoteBytes = stages.remoteBytes();
      SluiceTotals totals = SluiceTotals.await(conf, remoteBytes);
      JsonFile.write(result, new StormResult(repetitions, remoteBytes, totals));
    }
    out.println("done");
  }

  private List<Repetition> repeat(Supplier<Sums> job, int count, Stages stages) throws Exception {
    List<Repetition> repetitions = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      long cold = storm.cold() ? dropMapOutputs() : 0;
      long disk = Executors.diskBytes();
      Map<String, Double> before = Executors.cpuSeconds();
      long start = System.nanoTime();
      Sums sums = job.get();
      double seconds = (System.nanoTime() - start) / 1e9;
      Map<String, Double> cpu = Executors.used(before, Executors.cpuSeconds());
      if (Executors.diskBytes() - disk < MIN_FROM_DISK * cold) {
        throw new IllegalStateException(
            "only %d of %d bytes of map outputs were read from disk, the others from memory"
                .formatted(Executors.diskBytes() - disk, cold));
      }
      repetitions.add(new Repetition(sums, seconds, reduceStages(stages), cpu));
    }
    return repetitions;
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
   * Result of a driver process ({@link StormJob}), which sends it to the command in a file of JSON.
   *
   * @param repetitions repetitions in order; the first ones have warmed the executors up
   * @param remoteBytes sum of Spark's remoteBytesRead over all tasks
   * @param totals Sluice's counters
   */
  record StormResult(List<Repetition> repetitions, long remoteBytes, SluiceTotals totals) {}

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
