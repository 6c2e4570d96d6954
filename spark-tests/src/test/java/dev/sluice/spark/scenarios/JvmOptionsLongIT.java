// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.scenarios;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Options of the JVM and of Spark's memory that operators set for executors. With each of them all
 * remote blocks are READ, registered ones and staged ones.
 */
@Timeout(value = 5, unit = TimeUnit.MINUTES)
final class JvmOptionsLongIT {
  @ParameterizedTest
  @ValueSource(
      strings = {
        "-XX:+UseZGC",
        "-XX:+UseParallelGC",
        "-XX:+UseSerialGC -XX:-UseCompressedOops",
        "-XX:+UseCompactObjectHeaders",
        "-Xss256k",
        "-XX:+AlwaysPreTouch -XX:+ExitOnOutOfMemoryError"
      })
  void allIsReadWithAnOptionOfTheJvm(String option) {
    assertAllIsRead(LocalCluster.EXECUTOR_OPTIONS, with(option));
  }

  /**
   * Spark starts no executor whose direct memory may not hold the largest block that it fetches.
   */
  @Test
  void allIsReadWithLittleDirectMemory() {
    assertAllIsRead(
        LocalCluster.EXECUTOR_OPTIONS,
        with("-XX:MaxDirectMemorySize=64m"),
        "spark.network.maxRemoteBlockSizeFetchToMem",
        "32m");
  }

  private static String with(String option) {
    // A JVM with two collectors does not start.
    String others =
        System.getProperty(LocalCluster.EXECUTOR_OPTIONS).replaceAll("-XX:\\+Use\\w+GC", "");
    return others + " " + option;
  }

  @ParameterizedTest
  @ValueSource(strings = {"64m", "256m"})
  void allIsReadWithOffHeapMemory(String size) {
    assertAllIsRead("spark.memory.offHeap.enabled", "true", "spark.memory.offHeap.size", size);
  }

  private static void assertAllIsRead(String... settings) {
    try (LocalCluster cluster = LocalCluster.start(settings)) {
      assertThat(KnownShuffle.SMALL.combined(cluster.context(), 20).collectAsMap())
          .isEqualTo(KnownShuffle.SMALL.answer());
      PathAssert.noneStaged(cluster);
    }
    try (LocalCluster cluster = LocalCluster.start(staged(settings))) {
      assertThat(KnownShuffle.answerOf(KnownShuffle.SMALL.repartitioned(cluster.context(), 20)))
          .isEqualTo(KnownShuffle.SMALL.answer());
      PathAssert.allStaged(cluster);
    }
  }

  private static String[] staged(String... settings) {
    String[] all = Arrays.copyOf(settings, settings.length + 2);
    all[settings.length] = "spark.shuffle.rdma.registration.maxBytes";
    all[settings.length + 1] = "0";
    return all;
  }
}
