// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.scenarios;

import java.io.Serializable;
import java.nio.charset.StandardCharsets;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import java.util.zip.CRC32;
import org.apache.spark.HashPartitioner;
import org.apache.spark.ShuffleDependency;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.shuffle.ShuffleHandle;
import scala.Tuple2;

/**
 * Records whose shuffle has an answer that is known without Spark: a checksum of the values of each
 * key.
 *
 * @param maps map tasks
 * @param records of each map task
 * @param keys distinct keys
 * @param valueBytes of each record, random except for {@link #MARKER} at their start
 */
public record KnownShuffle(int maps, int records, int keys, int valueBytes)
    implements Serializable {
  /** Text that is found on the wire if a record goes there unencrypted. */
  static final String MARKER = "a record in the clear";

  public static final KnownShuffle SMALL = new KnownShuffle(16, 500, 400, 100);

  /** The answer: the sum of the checksums of a key's values. */
  public Map<Integer, Long> answer() {
    Map<Integer, Long> answer = new TreeMap<>();
    IntStream.range(0, maps)
        .boxed()
        .flatMap(this::recordsOf)
        .forEach(record -> answer.merge(record._1, checksum(record._2), Long::sum));
    return answer;
  }

  /** Moves the records as they are. */
  public JavaPairRDD<Integer, byte[]> repartitioned(JavaSparkContext context, int partitions) {
    return input(context).partitionBy(new HashPartitioner(partitions));
  }

  /** The answer from records that were moved as they are. */
  public static Map<Integer, Long> answerOf(JavaPairRDD<Integer, byte[]> repartitioned) {
    return new TreeMap<>(repartitioned.mapPartitionsToPair(KnownShuffle::checksums).collectAsMap());
  }

  /** Adds up the checksums of each key, on the map side first. */
  JavaPairRDD<Integer, Long> combined(JavaSparkContext context, int partitions) {
    return input(context).mapValues(KnownShuffle::checksum).reduceByKey(Long::sum, partitions);
  }

  /** Spark's choice for the shuffle that ends in {@code rdd}: the handle tells which writer. */
  static ShuffleHandle handle(JavaPairRDD<?, ?> rdd) {
    return dependency(rdd).shuffleHandle();
  }

  /** The shuffle that ends in {@code rdd}. */
  static ShuffleDependency<?, ?, ?> dependency(JavaPairRDD<?, ?> rdd) {
    return (ShuffleDependency<?, ?, ?>) rdd.rdd().dependencies().head();
  }

  /** The records where they are made, before any shuffle. */
  JavaPairRDD<Integer, byte[]> input(JavaSparkContext context) {
    List<Integer> indices = IntStream.range(0, maps).boxed().toList();
    return context.parallelize(indices, maps).flatMapToPair(index -> recordsOf(index).iterator());
  }

  private Stream<Tuple2<Integer, byte[]>> recordsOf(int map) {
    SplittableRandom random = new SplittableRandom(map);
    return IntStream.range(0, records)
        .mapToObj(i -> new Tuple2<>(random.nextInt(keys), value(random)));
  }

  private byte[] value(SplittableRandom random) {
    byte[] value = new byte[valueBytes];
    random.nextBytes(value);
    byte[] marker = MARKER.getBytes(StandardCharsets.US_ASCII);
    System.arraycopy(marker, 0, value, 0, Math.min(marker.length, valueBytes));
    return value;
  }

  private static Iterator<Tuple2<Integer, Long>> checksums(
      Iterator<Tuple2<Integer, byte[]>> records) {
    Map<Integer, Long> sums = new TreeMap<>();
    records.forEachRemaining(record -> sums.merge(record._1, checksum(record._2), Long::sum));
    return sums.entrySet().stream().map(e -> new Tuple2<>(e.getKey(), e.getValue())).iterator();
  }

  static long checksum(byte[] value) {
    CRC32 crc = new CRC32();
    crc.update(value);
    return crc.getValue();
  }
}
