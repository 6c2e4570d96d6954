// SPDX-License-Identifier: Apache-2.0
package dev.sluice.chaos.workload;

import java.util.Iterator;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.apache.spark.TaskContext;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.api.java.JavaSparkContext;
import scala.Tuple2;

/**
 * Generates seeded records: the same seed gives the same records with every shuffle, also when a
 * task is repeated. Map tasks generate them in executors.
 */
final class Records {
  private static final int MAPS = 12;
  private static final int RECORDS = 3_000;
  private static final int KEYS = 5_000;
  private static final int VALUE_BYTES = 200;

  /** Number of reduce tasks. */
  static final int PARTITIONS = 24;

  private Records() {}

  static JavaPairRDD<Integer, byte[]> of(JavaSparkContext spark, long seed) {
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

  static long hash(Tuple2<Integer, byte[]> record) {
    return Answers.hash(record._2()) * 31 + record._1();
  }

  /** Hashes the values of a key in the running task: by input, regardless of their order. */
  static long hashOfGroup(int key, List<Iterable<byte[]>> inputs) {
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
