// SPDX-License-Identifier: Apache-2.0
package dev.sluice.chaos.workload;

import dev.sluice.testkit.Sums;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.apache.spark.BarrierTaskContext;
import org.apache.spark.HashPartitioner;
import org.apache.spark.SparkException;
import org.apache.spark.TaskContext;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.rdd.RDD;
import scala.Function1;
import scala.Tuple2;
import scala.reflect.ClassTag;

/**
 * Workloads on RDDs, which {@link Workload} lists. The thread of the job calls a method; the
 * functions in it run in executors. The hash of a group includes its task and its inputs, so that a
 * record in a wrong place changes the answer.
 */
final class RddJobs {
  /** Number of barrier tasks; they must fit the slots of two executors, if one of three is lost. */
  private static final int BARRIER_TASKS = 4;

  private static final int INDETERMINATE_ATTEMPTS = 4;

  /** Number of jobs at once, of which {@link #CANCELLED} are cancelled. */
  static final int CONCURRENT_JOBS = 4;

  private static final int CANCELLED = 2;

  /** Time to the first cancellation and from one to the next. */
  private static final long CANCEL_STEP_MS = 400;

  private static final int MAPS = 12;
  private static final int RECORDS = 3_000;
  private static final int KEYS = 5_000;
  private static final int VALUE_BYTES = 200;

  /** Number of reduce tasks. */
  static final int PARTITIONS = 24;

  private RddJobs() {}

  /** Groups the values of each key in one task. */
  static Sums groupBy(JavaSparkContext spark, long seed) {
    return groupBy(spark, seed, PARTITIONS);
  }

  static Sums groupBy(JavaSparkContext spark, long seed, int partitions) {
    return Answers.ofEach(
        records(spark, seed).groupByKey(partitions),
        group -> hashOfGroup(group._1(), List.of(group._2())));
  }

  /** Joins three shuffles: each task has three readers open at the same time. */
  static Sums cogroup(JavaSparkContext spark, long seed) {
    return Answers.ofEach(
        records(spark, seed)
            .cogroup(records(spark, seed + 1_000), records(spark, seed + 2_000), PARTITIONS),
        group ->
            hashOfGroup(group._1(), List.of(group._2()._1(), group._2()._2(), group._2()._3())));
  }

  /** Sorts, and checks the order within every task. */
  static Sums sortByKey(JavaSparkContext spark, long seed) {
    return Answers.of(records(spark, seed).sortByKey(true, PARTITIONS), RddJobs::sumInOrder);
  }

  private static Iterator<long[]> sumInOrder(Iterator<Tuple2<Integer, byte[]>> records) {
    AtomicInteger last = new AtomicInteger(Integer.MIN_VALUE);
    return Sums.ofTask(
        records,
        record -> {
          if (record._1() < last.getAndSet(record._1())) {
            throw new IllegalStateException("key " + record._1() + " comes after a larger one");
          }
          return hash(record);
        });
  }

  /** A Scala function that can be sent to executors. */
  private interface PartitionFunction<T, R>
      extends Function1<scala.collection.Iterator<T>, scala.collection.Iterator<R>>, Serializable {}

  /**
   * Reads the shuffle in a barrier stage, whose tasks run together, and again together if one
   * fails. The stage writes another shuffle, since Spark would not repeat the last stage of a job.
   */
  static Sums barrier(JavaSparkContext spark, long seed) {
    RDD<Tuple2<Integer, byte[]>> moved =
        records(spark, seed).partitionBy(new HashPartitioner(BARRIER_TASKS)).rdd();
    PartitionFunction<Tuple2<Integer, byte[]>, Tuple2<Integer, byte[]>> meet = RddJobs::meet;
    ClassTag<Tuple2<Integer, byte[]>> tag = moved.elementClassTag();
    JavaPairRDD<Integer, byte[]> met =
        JavaRDD.fromRDD(moved.barrier().mapPartitions(meet, false, tag), tag).mapToPair(it -> it);
    return Answers.ofEach(met.partitionBy(new HashPartitioner(PARTITIONS)), RddJobs::hash);
  }

  private static <T> scala.collection.Iterator<T> meet(scala.collection.Iterator<T> records) {
    BarrierTaskContext.get().barrier();
    return records;
  }

  /**
   * Shuffles the output of a shuffle round-robin, so that it depends on the order of the input. If
   * a part is lost, Spark has to repeat the whole stage, and it fails a job whose result stage has
   * begun. Then the whole job runs again, as a user would run it.
   */
  static Sums indeterminate(JavaSparkContext spark, long seed) throws Exception {
    for (int attempt = 1; ; attempt++) {
      try {
        return Answers.ofEach(
            records(spark, seed)
                .partitionBy(new HashPartitioner(PARTITIONS))
                .repartition(PARTITIONS / 2),
            RddJobs::hash);
      } catch (Exception e) { // Scala throws checked exceptions that it does not declare.
        boolean given = e instanceof SparkException && e.toString().contains("indeterminate");
        if (!given || attempt == INDETERMINATE_ATTEMPTS) {
          throw e;
        }
      }
    }
  }

  /**
   * Runs four jobs at once, each on a thread, and cancels two of them midway, which interrupts
   * their tasks. Only the answers of the others count. Returns when all four are over.
   */
  static Sums cancelled(JavaSparkContext spark, long seed) throws Exception {
    try (ExecutorService threads = Executors.newFixedThreadPool(CONCURRENT_JOBS)) {
      List<Future<Sums>> kept = new ArrayList<>();
      for (int i = 0; i < CONCURRENT_JOBS - CANCELLED; i++) {
        kept.add(submit(threads, spark, "kept", seed + i));
      }
      for (int i = 0; i < CANCELLED; i++) {
        submit(threads, spark, "cancelled-" + i, seed + i);
      }
      for (int i = 0; i < CANCELLED; i++) {
        Thread.sleep(CANCEL_STEP_MS);
        spark.cancelJobGroup("cancelled-" + i);
      }
      Sums sum = new Sums(0, 0);
      for (Future<Sums> job : kept) {
        sum = sum.plus(job.get());
      }
      return sum;
    }
  }

  private static Future<Sums> submit(
      ExecutorService threads, JavaSparkContext spark, String group, long seed) {
    return threads.submit(
        () -> {
          spark.setJobGroup(group, group, true);
          return groupBy(spark, seed);
        });
  }

  /**
   * Returns seeded records: the same seed gives the same records with every shuffle, also when a
   * task is repeated. Map tasks generate them in executors.
   */
  private static JavaPairRDD<Integer, byte[]> records(JavaSparkContext spark, long seed) {
    List<Integer> maps = IntStream.range(0, MAPS).boxed().toList();
    return spark
        .parallelize(maps, MAPS)
        .flatMapToPair(map -> records(new SplittableRandom(seed * MAPS + map)));
  }

  private static Iterator<Tuple2<Integer, byte[]>> records(SplittableRandom random) {
    return IntStream.range(0, RECORDS)
        .mapToObj(
            _ -> {
              byte[] value = new byte[VALUE_BYTES];
              random.nextBytes(value);
              return new Tuple2<>(random.nextInt(KEYS), value);
            })
        .iterator();
  }

  private static long hash(Tuple2<Integer, byte[]> record) {
    return Answers.hash(record._2()) * 31 + record._1();
  }

  /** Hashes the values of a key in the running task: by input, regardless of their order. */
  private static long hashOfGroup(int key, List<Iterable<byte[]>> inputs) {
    long hash = mixed(TaskContext.getPartitionId(), key);
    for (Iterable<byte[]> values : inputs) {
      long sum = 0;
      for (byte[] value : values) {
        sum += Answers.hash(value);
      }
      hash = mixed(hash, sum);
    }
    return hash;
  }

  private static long mixed(long hash, long next) {
    return new SplittableRandom(hash * 31 + next).nextLong();
  }
}
