// SPDX-License-Identifier: Apache-2.0
package dev.sluice.chaos.workload;

import dev.sluice.testkit.Sums;
import java.io.Serializable;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.spark.BarrierTaskContext;
import org.apache.spark.HashPartitioner;
import org.apache.spark.SparkException;
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

  private RddJobs() {}

  /** Groups the values of each key in one task. */
  static Sums groupBy(JavaSparkContext spark, long seed) {
    return groupBy(spark, seed, Records.PARTITIONS);
  }

  static Sums groupBy(JavaSparkContext spark, long seed, int partitions) {
    return Answers.ofEach(
        Records.of(spark, seed).groupByKey(partitions),
        group -> Records.hashOfGroup(group._1(), List.of(group._2())));
  }

  /** Joins three shuffles: each task has three readers open at the same time. */
  static Sums cogroup(JavaSparkContext spark, long seed) {
    return Answers.ofEach(
        Records.of(spark, seed)
            .cogroup(
                Records.of(spark, seed + 1_000),
                Records.of(spark, seed + 2_000),
                Records.PARTITIONS),
        group ->
            Records.hashOfGroup(
                group._1(), List.of(group._2()._1(), group._2()._2(), group._2()._3())));
  }

  /** Sorts, and checks the order within every task. */
  static Sums sortByKey(JavaSparkContext spark, long seed) {
    return Answers.of(
        Records.of(spark, seed).sortByKey(true, Records.PARTITIONS), RddJobs::sumInOrder);
  }

  private static Iterator<long[]> sumInOrder(Iterator<Tuple2<Integer, byte[]>> records) {
    AtomicInteger last = new AtomicInteger(Integer.MIN_VALUE);
    return Sums.ofTask(
        records,
        record -> {
          if (record._1() < last.getAndSet(record._1())) {
            throw new IllegalStateException("key " + record._1() + " comes after a larger one");
          }
          return Records.hash(record);
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
        Records.of(spark, seed).partitionBy(new HashPartitioner(BARRIER_TASKS)).rdd();
    PartitionFunction<Tuple2<Integer, byte[]>, Tuple2<Integer, byte[]>> meet = RddJobs::meet;
    ClassTag<Tuple2<Integer, byte[]>> tag = moved.elementClassTag();
    JavaPairRDD<Integer, byte[]> met =
        JavaRDD.fromRDD(moved.barrier().mapPartitions(meet, false, tag), tag).mapToPair(it -> it);
    return Answers.ofEach(met.partitionBy(new HashPartitioner(Records.PARTITIONS)), Records::hash);
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
            Records.of(spark, seed)
                .partitionBy(new HashPartitioner(Records.PARTITIONS))
                .repartition(Records.PARTITIONS / 2),
            Records::hash);
      } catch (Exception e) { // Scala throws checked exceptions that it does not declare.
        boolean given = e instanceof SparkException && e.toString().contains("indeterminate");
        if (!given || attempt == INDETERMINATE_ATTEMPTS) {
          throw e;
        }
      }
    }
  }
}
