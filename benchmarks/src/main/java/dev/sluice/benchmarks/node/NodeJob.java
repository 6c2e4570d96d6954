// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks.node;

import static java.util.Objects.requireNonNull;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.sluice.benchmarks.CompletedStages;
import dev.sluice.benchmarks.SluiceTotals;
import dev.sluice.benchmarks.storm.RddStorm;
import dev.sluice.testkit.AnsweringProcess;
import dev.sluice.testkit.Executors;
import dev.sluice.testkit.Poll;
import dev.sluice.testkit.Sums;
import java.io.PrintStream;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Predicate;
import java.util.stream.IntStream;
import org.apache.spark.HashPartitioner;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerTaskStart;
import scala.collection.immutable.Map$;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Driver of a shuffle that is read repeatedly while executors come and go. Its main thread executes
 * each line, a {@link Step}, and answers with a line. {@link NodeDriver} starts and ends it. The
 * functions that {@code begin} gives to Spark run in executors: they may not capture this object or
 * its {@link Load}, which are not serializable.
 */
public final class NodeJob {
  private static final long WAIT_SECONDS = 120;

  /** Time that is longer than any driver lives. */
  private static final long HOLD_SECONDS = 3_600;

  /** Commands to this driver. */
  enum Step {
    /** Reads all map outputs, writing them the first time; answers with {@link Reduced}. */
    REDUCE,
    /** Waits until all executors are there and none is one of those before the last step. */
    AWAIT_OTHERS,
    /** Waits until there is no executor. */
    AWAIT_NONE,
    /** Kills all executors, and requests a single one from then on. */
    ONE_EXECUTOR,
    /** Occupies the core of an executor with a task of another job; answers with its process id. */
    HOLD_EXECUTOR,
    /** Ends the application and begins another. */
    NEXT_APPLICATION
  }

  /**
   * Size of the shuffle.
   *
   * @param taskMs time in ms by which a reduce task is prolonged, so that faults can happen in it
   */
  record Load(int maps, int partitions, int blockBytes, int taskMs) {}

  /**
   * Result of a job.
   *
   * @param answer digest of the records, which is the same whenever the result is right
   * @param retries stages that were tried again
   * @param mapTasks map tasks that ran
   * @param remoteBytes remote bytes that Spark counted
   * @param readBytes bytes of these that came by READ
   * @param provider provider of the READs
   */
  record Reduced(
      String answer,
      double seconds,
      int retries,
      int mapTasks,
      long remoteBytes,
      long readBytes,
      String provider) {}

  private final Load load;
  private JavaSparkContext spark;
  private CompletedStages stages;
  private JavaRDD<long[]> reduce;
  private Set<String> before = Set.of();
  private long readBefore;

  private NodeJob(Load load) {
    this.load = load;
    begin();
  }

  /**
   * @param arguments a {@link Load} as JSON
   */
  public static void main(String[] arguments) throws Exception {
    PrintStream out = AnsweringProcess.claimOutput();
    NodeJob job = new NodeJob(new ObjectMapper().readValue(arguments[0], Load.class));
    try {
      Executors.await(job.spark);
      AnsweringProcess.answer(out, line -> job.run(Step.valueOf(line)));
    } finally {
      job.spark.close();
    }
  }

  private void begin() {
    spark = new JavaSparkContext(new SparkConf());
    stages = new CompletedStages();
    spark.sc().addSparkListener(stages);
    int partitions = load.partitions();
    int blockBytes = load.blockBytes();
    int taskMs = load.taskMs();
    reduce =
        spark
            .parallelize(IntStream.range(0, load.maps()).boxed().toList(), load.maps())
            .flatMapToPair(task -> RddStorm.records(task, partitions, blockBytes))
            .partitionBy(new HashPartitioner(partitions))
            .mapPartitions(
                records -> {
                  Iterator<long[]> sums = RddStorm.sums(records);
                  Thread.sleep(taskMs);
                  return sums;
                });
  }

  private Object run(Step step) throws Exception {
    Object answer =
        switch (step) {
          case REDUCE -> reduce();
          case AWAIT_OTHERS ->
              await(now -> isWhole(now) && now.stream().noneMatch(before::contains));
          case AWAIT_NONE -> await(Set::isEmpty);
          case ONE_EXECUTOR -> oneExecutor();
          case HOLD_EXECUTOR -> holdExecutor();
          case NEXT_APPLICATION -> nextApplication();
        };
    before = executors();
    return answer;
  }

  private Reduced reduce() throws Exception {
    CompletedStages.Counts start = stages.counts();
    long startNanos = System.nanoTime();
    Sums sums = Sums.of(reduce.collect());
    double seconds = (System.nanoTime() - startNanos) / 1e9;
    spark.sc().listenerBus().waitUntilEmpty(TimeUnit.SECONDS.toMillis(WAIT_SECONDS));
    CompletedStages.Counts end = stages.counts();
    SluiceTotals totals = SluiceTotals.await(spark.getConf(), end.remoteBytes());
    long read = totals.readBytes() - readBefore;
    readBefore = totals.readBytes();
    return new Reduced(
        sums.toString(),
        seconds,
        end.retries() - start.retries(),
        end.mapTasks() - start.mapTasks(),
        end.remoteBytes() - start.remoteBytes(),
        read,
        totals.provider());
  }

  private Set<String> executors() {
    return Set.copyOf(CollectionConverters.asJava(spark.sc().getExecutorIds()));
  }

  private boolean isWhole(Set<String> executors) {
    return executors.size() == spark.getConf().getInt("spark.executor.instances", 0);
  }

  private Set<String> await(Predicate<Set<String>> wanted) throws Exception {
    if (!Poll.until(TimeUnit.SECONDS.toMillis(WAIT_SECONDS), () -> wanted.test(executors()))) {
      throw new TimeoutException(
          "%d s were not enough for the awaited executors; now they are %s"
              .formatted(WAIT_SECONDS, executors()));
    }
    return executors();
  }

  private Set<String> oneExecutor() throws Exception {
    Set<String> all = executors();
    spark.sc().killExecutors(CollectionConverters.asScala(all).toSeq());
    await(now -> now.stream().noneMatch(all::contains));
    spark.sc().requestTotalExecutors(1, 0, Map$.MODULE$.empty());
    return await(now -> now.size() == 1);
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

  private Set<String> nextApplication() throws Exception {
    spark.close();
    readBefore = 0;
    begin();
    Executors.await(spark);
    return executors();
  }
}
