// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks.tail;

import dev.sluice.benchmarks.SluiceTotals;
import dev.sluice.benchmarks.storm.RddStorm;
import dev.sluice.testkit.DriverProcess;
import dev.sluice.testkit.Stages;
import dev.sluice.testkit.Sums;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.apache.spark.HashPartitioner;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerTaskEnd;

/**
 * The driver process of a tail: writes a shuffle and reads it several times, on its main thread.
 * Configured by system properties; {@link TailCommand} starts it and waits for its end.
 */
public final class TailJob {
  /** Each executor has several of the map outputs that every reduce task reads. */
  private static final int MAPS = 64;

  private static final int REDUCE_TASKS = 200;
  private static final int BLOCK_BYTES = 1000;

  private TailJob() {}

  /**
   * Result of a driver, which the command reads from a file of JSON.
   *
   * @param taskMs run times of the reduce tasks, in milliseconds
   * @param sums the different sums of the shuffled records, which should be one
   */
  record Result(List<Long> taskMs, List<Sums> sums, SluiceTotals totals) {}

  /** Collects run times on Spark's listener thread; the job reads them while no task runs. */
  private static final class TaskTimes extends SparkListener {
    private final List<Long> taskMs = new ArrayList<>();

    @Override
    public synchronized void onTaskEnd(SparkListenerTaskEnd end) {
      if (end.taskType().equals("ResultTask")) {
        taskMs.add(end.taskMetrics().executorRunTime());
      }
    }

    synchronized List<Long> take() {
      List<Long> taken = List.copyOf(taskMs);
      taskMs.clear();
      return taken;
    }
  }

  /**
   * @param arguments numbers of warm-up runs and of measured runs of the reduce stage, and the
   *     result file
   */
  public static void main(String[] arguments) throws Exception {
    int warmUp = Integer.parseInt(arguments[0]);
    int repetitions = Integer.parseInt(arguments[1]);
    DriverProcess.measure(
        arguments[2], (spark, stages) -> measure(spark, stages, warmUp, repetitions));
  }

  private static Result measure(JavaSparkContext spark, Stages stages, int warmUp, int repetitions)
      throws Exception {
    TaskTimes times = new TaskTimes();
    spark.sc().addSparkListener(times);
    JavaRDD<long[]> reduced =
        RddStorm.pairs(spark, MAPS, REDUCE_TASKS, BLOCK_BYTES)
            .partitionBy(new HashPartitioner(REDUCE_TASKS))
            .mapPartitions(RddStorm::sums);
    Set<Sums> sums = new LinkedHashSet<>();
    List<Long> taskMs = new ArrayList<>();
    for (int i = 0; i < warmUp + repetitions; i++) {
      sums.add(Sums.of(reduced.collect()));
      stages.await(); // The listeners have been told of all tasks.
      List<Long> taken = times.take();
      if (i >= warmUp) {
        taskMs.addAll(taken);
      }
    }
    return new Result(taskMs, List.copyOf(sums), SluiceTotals.await(spark.getConf(), stages));
  }
}
