// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.examples;

import dev.sluice.spark.RdmaShuffleManager;
import java.util.List;
import java.util.stream.IntStream;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkContext;
import org.apache.spark.SparkEnv;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.shuffle.ShuffleManager;
import scala.Tuple2;

/**
 * A job with one shuffle, which prints how many bytes of it went by READ. It is an example for
 * users of Spark: the job itself does not mention Sluice, and {@code spark-submit} gives it the
 * drop-in jar and the key {@code spark.shuffle.manager}.
 *
 * <p>Only blocks of other hosts go by READ, so start executors on two hosts. On one host start two
 * executors and set {@code spark.shuffle.readHostLocalDisk=false}. Otherwise an executor reads the
 * blocks of its host from disk.
 */
public final class GroupByExample {
  private static final List<Integer> MAPS = List.of(0, 1, 2, 3, 4, 5, 6, 7);
  private static final int RECORDS_PER_MAP = 100_000;
  private static final int GROUPS = 1_000;

  private GroupByExample() {}

  public static void main(String[] args) {
    SparkConf conf = new SparkConf().setAppName("GroupByExample");
    JavaSparkContext context = new JavaSparkContext(SparkContext.getOrCreate(conf));
    System.out.println(groups(context) + " groups");
    ShuffleManager manager = SparkEnv.get().shuffleManager();
    context.stop(); // Executors report their last counts, for which the driver waits up to 1 s.
    if (manager instanceof RdmaShuffleManager sluice) {
      System.out.println(sluice.totals().getOrDefault("read.bytes", 0L) + " bytes by READ");
    } else {
      System.out.println("no byte by READ: spark.shuffle.manager is " + manager.getClass());
    }
  }

  /** Runs the job: groups records by key, and returns the number of groups. */
  public static long groups(JavaSparkContext context) {
    return context
        .parallelize(MAPS, MAPS.size())
        .flatMapToPair(
            map ->
                IntStream.range(0, RECORDS_PER_MAP)
                    .mapToObj(i -> new Tuple2<>(i % GROUPS, map))
                    .iterator())
        .groupByKey(MAPS.size())
        .count();
  }
}
