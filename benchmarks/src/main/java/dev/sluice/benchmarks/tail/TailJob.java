// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks.tail;

import static com.google.common.base.Preconditions.checkState;

import dev.sluice.benchmarks.SluiceTotals;
import dev.sluice.benchmarks.storm.RddStorm;
import dev.sluice.testkit.DriverProcess;
import dev.sluice.testkit.Stages;
import dev.sluice.testkit.Sums;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.IntFunction;
import java.util.stream.IntStream;
import org.apache.spark.HashPartitioner;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerTaskEnd;
import org.apache.spark.scheduler.TaskLocation;
import scala.Tuple2;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;
import scala.reflect.ClassTag$;

/**
 * The driver process of a tail: writes a shuffle and reads it several times, on its main thread.
 * Configured by system properties; {@link TailCommand} starts it and waits for its end.
 */
public final class TailJob {
  /** Map outputs of a peer; every reduce task reads a block of each. */
  private static final int MAPS_OF_PEER = 4;

  /** The executor that runs the reduce tasks. */
  private static final String READER = "1";

  private static final int REDUCE_TASKS = 200;

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
    private final Set<String> readers = new LinkedHashSet<>();
    private int lateMaps;

    @Override
    public synchronized void onTaskEnd(SparkListenerTaskEnd end) {
      String executor = end.taskInfo().executorId();
      if (end.taskType().equals("ResultTask")) {
        taskMs.add(end.taskMetrics().executorRunTime());
        readers.add(executor);
      } else if (executor.equals(LateRdmaShuffleManager.EXECUTOR)) {
        lateMaps++;
      }
    }

    /** Checks that each task ran where it was to run. */
    synchronized void checkExecutors() {
      checkState(lateMaps == MAPS_OF_PEER, "The late executor ran %s map tasks", lateMaps);
      checkState(readers.equals(Set.of(READER)), "Reduce tasks ran on %s", readers);
    }

    synchronized List<Long> take() {
      List<Long> taken = List.copyOf(taskMs);
      taskMs.clear();
      return taken;
    }
  }

  /**
   * @param arguments numbers of executors, of peers, of a block's bytes, of warm-up runs and of
   *     measured runs of the reduce stage, and the result file
   */
  public static void main(String[] arguments) throws Exception {
    int executors = Integer.parseInt(arguments[0]);
    int peers = Integer.parseInt(arguments[1]);
    int blockBytes = Integer.parseInt(arguments[2]);
    int warmUp = Integer.parseInt(arguments[3]);
    int repetitions = Integer.parseInt(arguments[4]);
    DriverProcess.measure(
        arguments[5],
        (spark, stages) -> {
          JavaRDD<Integer> maps =
              placed(spark, peers * MAPS_OF_PEER, map -> executor(map, executors));
          JavaPairRDD<Integer, byte[]> pairs = RddStorm.pairs(maps, REDUCE_TASKS, blockBytes);
          return measure(spark, stages, pairs, warmUp, repetitions);
        });
  }

  /** Returns the numbers of so many tasks, each in a partition that prefers its executor. */
  private static JavaRDD<Integer> placed(
      JavaSparkContext spark, int tasks, IntFunction<String> executor) {
    String host = spark.sc().statusTracker().getExecutorInfos()[0].host();
    List<Tuple2<Integer, Seq<String>>> placed =
        IntStream.range(0, tasks)
            .mapToObj(
                task ->
                    new Tuple2<>(
                        task,
                        seq(List.of(TaskLocation.apply(host, executor.apply(task)).toString()))))
            .toList();
    return spark
        .sc()
        .makeRDD(seq(placed), ClassTag$.MODULE$.<Integer>apply(Integer.class))
        .toJavaRDD();
  }

  /** Returns the executor of a map task: the late one and the reader run those of one peer each. */
  private static String executor(int map, int executors) {
    return switch (map / MAPS_OF_PEER) {
      case 0 -> LateRdmaShuffleManager.EXECUTOR;
      case 1 -> READER;
      default -> Integer.toString(2 + map % (executors - 2));
    };
  }

  private static <T> Seq<T> seq(List<T> list) {
    return CollectionConverters.asScala(list).toSeq();
  }

  private static Result measure(
      JavaSparkContext spark,
      Stages stages,
      JavaPairRDD<Integer, byte[]> pairs,
      int warmUp,
      int repetitions)
      throws Exception {
    TaskTimes times = new TaskTimes();
    spark.sc().addSparkListener(times);
    JavaRDD<long[]> reduced =
        pairs
            .partitionBy(new HashPartitioner(REDUCE_TASKS))
            .zipPartitions(
                placed(spark, REDUCE_TASKS, task -> READER),
                (records, task) -> RddStorm.sums(records));
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
    times.checkExecutors();
    return new Result(taskMs, List.copyOf(sums), SluiceTotals.await(spark.getConf(), stages));
  }
}
