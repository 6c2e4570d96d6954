// SPDX-License-Identifier: Apache-2.0
package dev.sluice.cluster.yarn;

import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.util.LongAccumulator;
import scala.Tuple2;

/** Spark's sums of numbers by key, whose result is known. Executors load this class. Stateless. */
final class SumJob {
  static final int NUMBERS = 20_000;
  static final int MAPS = 8;
  static final int REDUCES = 4;
  private static final int KEYS = 97;

  private SumJob() {}

  /**
   * Returns the sums, which an action computes. Each partition has some from each map task.
   *
   * @param mapped counts numbers as map tasks see them
   */
  static JavaPairRDD<Integer, Integer> sums(JavaSparkContext context, LongAccumulator mapped) {
    return context
        .parallelize(IntStream.range(0, NUMBERS).boxed().toList(), MAPS)
        .mapToPair(
            number -> {
              mapped.add(1);
              return new Tuple2<>(number % KEYS, number);
            })
        .reduceByKey(Integer::sum, REDUCES);
  }

  /** Returns the users of the processes that run tasks. */
  static List<String> users(JavaSparkContext context) {
    return context
        .parallelize(IntStream.range(0, MAPS).boxed().toList(), MAPS)
        .map(_ -> System.getProperty("user.name"))
        .collect();
  }

  static Map<Integer, Integer> expected() {
    return IntStream.range(0, NUMBERS)
        .boxed()
        .collect(
            Collectors.groupingBy(
                number -> number % KEYS, Collectors.summingInt(number -> number)));
  }
}
