// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks.storm;

import dev.sluice.benchmarks.storm.StormCase.Workload;
import dev.sluice.testkit.Sums;
import java.util.Arrays;
import java.util.Iterator;
import java.util.SplittableRandom;
import java.util.function.IntFunction;
import java.util.stream.IntStream;
import org.apache.spark.HashPartitioner;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import scala.Tuple2;

/**
 * Jobs of a storm that shuffle pairs: the key is the partition, the value random bytes. {@link
 * Workload} prepares them on the main thread of {@link StormJob}; {@code NodeJob} makes a job of
 * its own of {@link #pairs} and {@link #sums}. Their functions run in executors and may capture
 * only values that are serializable, which a {@link StormCase} is not. The same task always
 * generates the same records.
 */
public final class RddStorm {
  /** Bytes of a value in blocks below 1 MiB. */
  private static final int SMALL_VALUE_BYTES = 100;

  /** With large blocks, bytes are to be measured rather than records. */
  private static final int LARGE_VALUE_BYTES = 1 << 16;

  private RddStorm() {}

  static JavaRDD<long[]> partitioned(JavaSparkContext spark, StormCase storm) {
    return pairs(spark, storm.maps(), storm.partitions(), storm.blockBytes())
        .partitionBy(new HashPartitioner(storm.partitions()))
        .mapPartitions(RddStorm::sums);
  }

  /** Returns pairs in so many map tasks, with a block of each for every partition. */
  public static JavaPairRDD<Integer, byte[]> pairs(
      JavaSparkContext spark, int maps, int partitions, long blockBytes) {
    return pairs(
        spark.parallelize(IntStream.range(0, maps).boxed().toList(), maps), partitions, blockBytes);
  }

  /** Returns pairs of the numbered map tasks, with a block of each for every partition. */
  public static JavaPairRDD<Integer, byte[]> pairs(
      JavaRDD<Integer> maps, int partitions, long blockBytes) {
    return maps.flatMapToPair(task -> records(task, partitions, blockBytes));
  }

  /** Returns a block of records for every partition, generated while they are written. */
  static Iterator<Tuple2<Integer, byte[]>> records(int task, int partitions, long blockBytes) {
    int valueBytes = valueBytes(blockBytes);
    SplittableRandom random = new SplittableRandom(task);
    return IntStream.range(0, Math.toIntExact(partitions * (blockBytes / valueBytes)))
        .mapToObj(i -> new Tuple2<>(i % partitions, value(random, valueBytes)))
        .iterator();
  }

  private static int valueBytes(long blockBytes) {
    int most = blockBytes < 1 << 20 ? SMALL_VALUE_BYTES : LARGE_VALUE_BYTES;
    return (int) Math.min(blockBytes, most);
  }

  private static byte[] value(SplittableRandom random, int bytes) {
    byte[] value = new byte[bytes];
    random.nextBytes(value);
    return value;
  }

  /** Returns a shuffle of the same cached pairs for each job, with other partitions each time. */
  static IntFunction<JavaRDD<long[]>> iterations(JavaSparkContext spark, StormCase storm) {
    int partitions = storm.partitions();
    JavaPairRDD<Integer, byte[]> cached =
        pairs(spark, storm.maps(), partitions, storm.blockBytes()).cache();
    return job -> moved(cached, job, partitions);
  }

  private static JavaRDD<long[]> moved(
      JavaPairRDD<Integer, byte[]> cached, int by, int partitions) {
    return cached
        .mapToPair(record -> new Tuple2<>(record._1() + by, record._2()))
        .partitionBy(new HashPartitioner(partitions))
        .mapPartitions(RddStorm::sums);
  }

  /** Returns the number of records and their checksum, as input of {@link Sums#of}. */
  public static Iterator<long[]> sums(Iterator<Tuple2<Integer, byte[]>> records) {
    return Sums.ofTask(records, record -> 31L * record._1() + Arrays.hashCode(record._2()));
  }
}
