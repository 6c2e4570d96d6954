// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks.storm;

import dev.sluice.testkit.Sums;
import org.apache.spark.Dependency;
import org.apache.spark.ShuffleDependency;
import org.apache.spark.SparkContext;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.rdd.RDD;
import scala.concurrent.Await;
import scala.concurrent.duration.Duration;

/**
 * A shuffle whose map stage is over. {@link StormJob} has it written, reads it and removes it on
 * the driver's main thread, so that each of these steps can be measured.
 */
record WrittenShuffle(SparkContext spark, int id, JavaRDD<long[]> sums) {
  /**
   * Runs the map stage.
   *
   * @param sums reads one shuffle
   */
  static WrittenShuffle write(JavaSparkContext spark, JavaRDD<long[]> sums) throws Exception {
    ShuffleDependency<?, ?, ?> shuffle = shuffle(sums.rdd());
    Await.result(spark.sc().submitMapStage(shuffle), Duration.Inf());
    return new WrittenShuffle(spark.sc(), shuffle.shuffleId(), sums);
  }

  private static ShuffleDependency<?, ?, ?> shuffle(RDD<?> rdd) {
    Dependency<?> parent = rdd.dependencies().head();
    return parent instanceof ShuffleDependency<?, ?, ?> shuffle ? shuffle : shuffle(parent.rdd());
  }

  /** Runs the reduce stage. */
  Sums read() {
    return Sums.of(sums.collect());
  }

  /** Removes the shuffle everywhere, as Spark does when the program has dropped it. */
  void remove() {
    spark.cleaner().get().doCleanupShuffle(id, true);
  }
}
