// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.scenarios;

import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaSparkContext;

/**
 * A small Spark application in one JVM, which the build runs before the scenarios with {@code
 * -XX:ArchiveClassesAtExit}. Executors then take their classes from that archive instead of loading
 * and verifying them again, which saves a third of the CPU time of their start. An executor on
 * another JDK ignores the archive. It is not an AOT cache, since an executor on JDK 21 would refuse
 * that option; docs/tuning.md has both for users.
 */
final class ExecutorArchive {
  private ExecutorArchive() {}

  public static void main(String[] arguments) {
    SparkConf conf =
        new SparkConf(false)
            .setMaster("local[2]")
            .setAppName("archive")
            .set("spark.ui.enabled", "false")
            .set("spark.shuffle.manager", "dev.sluice.spark.RdmaShuffleManager")
            .set("spark.shuffle.rdma.provider", "soft")
            .set("spark.shuffle.rdma.testing.loopback", "true")
            .set("spark.serializer", "org.apache.spark.serializer.KryoSerializer");
    try (JavaSparkContext context = new JavaSparkContext(conf)) {
      KnownShuffle.answerOf(KnownShuffle.SMALL.repartitioned(context, 8));
    }
  }
}
