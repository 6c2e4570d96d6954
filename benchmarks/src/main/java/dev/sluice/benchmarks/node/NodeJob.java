// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks.node;

import static java.util.Objects.requireNonNull;

import dev.sluice.benchmarks.SluiceTotals;
import dev.sluice.benchmarks.storm.RddStorm;
import dev.sluice.testkit.AnsweringProcess;
import dev.sluice.testkit.Executors;
import dev.sluice.testkit.Poll;
import dev.sluice.testkit.Stages;
import dev.sluice.testkit.Sums;
import java.io.PrintStream;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.spark.HashPartitioner;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerTaskStart;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Driver of a shuffle that is read repeatedly while its servers are struck. Its main thread
 * executes each line, a {@link Step}, and answers with a line. {@link StruckServers} starts and
 * ends it.
 */
public final class NodeJob {
  private static final int MAPS = 32;
  private static final int PARTITIONS = 32;
  private static final int BLOCK_BYTES = 20_000;

  /** Time by which a reduce task is prolonged: all together take 6.4 s on two cores. */
  private static final long TASK_MS = 400;

  private static final long WAIT_SECONDS = 120;

  /** Time that is longer than any driver lives. */
  private static final long HOLD_SECONDS = 3_600;

  /** Commands to this driver. */
  enum Step {
    /** Reads all map outputs, writing them the first time; answers with {@link Reduced}. */
    REDUCE,
    /** Waits until all executors are there and none is one of those of the last reduce. */
    AWAIT_OTHERS,
    /** Occupies the core of an executor with a task of another job; answers with its process id. */
    HOLD_EXECUTOR
  }

  /**
   * Result of a job.
   *
   * @param answer digest of the records, which is the same whenever the result is right
   * @param provider provider of the READs
   */
  record Reduced(Sums answer, double seconds, String provider) {}

  private final JavaSparkContext spark;
  private final Stages stages = new Stages();
  private final JavaRDD<long[]> reduce;
  private Set<String> readers = Set.of();

  private NodeJob(JavaSparkContext spark) {
    this.spark = spark;
    spark.sc().addSparkListener(stages);
    reduce =
        RddStorm.pairs(spark, MAPS, PARTITIONS, BLOCK_BYTES)
            .partitionBy(new HashPartitioner(PARTITIONS))
            .mapPartitions(
                records -> {
                  Iterator<long[]> sums = RddStorm.sums(records);
                  Thread.sleep(TASK_MS);
                  return sums;
                });
  }

  public static void main(String[] arguments) throws Exception {
    PrintStream out = AnsweringProcess.claimOutput();
    try (JavaSparkContext spark = new JavaSparkContext(new SparkConf())) {
      NodeJob job = new NodeJob(spark);
      Executors.await(spark);
      AnsweringProcess.answer(out, line -> job.run(Step.valueOf(line)));
    }
  }

  private Object run(Step step) throws Exception {
    return switch (step) {
      case REDUCE -> reduce();
      case AWAIT_OTHERS -> awaitOthers();
      case HOLD_EXECUTOR -> holdExecutor();
    };
  }

  private Reduced reduce() throws Exception {
    long start = System.nanoTime();
    Sums sums = Sums.of(reduce.collect());
    double seconds = (System.nanoTime() - start) / 1e9;
    spark.sc().listenerBus().waitUntilEmpty(TimeUnit.SECONDS.toMillis(WAIT_SECONDS));
    readers = executors();
    SluiceTotals totals = SluiceTotals.await(spark.getConf(), stages);
    return new Reduced(sums, seconds, totals.provider());
  }

  private Set<String> executors() {
    return Set.copyOf(CollectionConverters.asJava(spark.sc().getExecutorIds()));
  }

  private Set<String> awaitOthers() throws Exception {
    if (!Poll.until(
        TimeUnit.SECONDS.toMillis(WAIT_SECONDS),
        () -> executors().stream().noneMatch(readers::contains))) {
      throw new TimeoutException(
          "%d s were not enough for other executors; now they are %s"
              .formatted(WAIT_SECONDS, executors()));
    }
    Executors.await(spark);
    return executors();
  }

  private long holdExecutor() throws Exception {
    CompletableFuture<String> held = new CompletableFuture<>();
    spark
        .sc()
        .addSparkListener(
            new SparkListener() {
              @Override
              public void onTaskStart(SparkListenerTaskStart start) {
                held.complete(start.taskInfo().executorId());
              }
            });
    spark.parallelize(List.of(0), 1).foreachAsync(_ -> TimeUnit.SECONDS.sleep(HOLD_SECONDS));
    String executor = held.get(WAIT_SECONDS, TimeUnit.SECONDS);
    return requireNonNull(Executors.processes().get(executor)).pid();
  }
}
