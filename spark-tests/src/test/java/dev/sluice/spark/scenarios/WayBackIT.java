// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.scenarios;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.spark.account.Totals;
import org.apache.spark.api.java.JavaPairRDD;
import org.junit.jupiter.api.Test;

/** Jobs that go back to Spark's own transfer while the application runs, and return to READs. */
final class WayBackIT {
  private static final String PROVIDER = "spark.shuffle.rdma.provider";
  private static final int PARTITIONS = 20;

  /** The same map outputs serve both paths, whichever job wrote them. */
  @Test
  void aLocalPropertyTurnsReadsOffForTheJobsOfAThread() {
    try (LocalCluster cluster = LocalCluster.start()) {
      JavaPairRDD<Integer, byte[]> on = shuffle(cluster);
      assertAnswer(on);
      PathAssert.allRead(cluster);
      long read = cluster.totals().read();

      cluster.context().setLocalProperty(PROVIDER, "off");
      JavaPairRDD<Integer, byte[]> off = shuffle(cluster);
      assertAnswer(off);
      assertAnswer(on);
      assertPaths(cluster, read);

      cluster.context().setLocalProperty(PROVIDER, null);
      assertAnswer(off);
      long again = cluster.totals().read();
      assertThat(again).isGreaterThan(read);
      assertPaths(cluster, again);
    }
  }

  @Test
  void setTurnsReadsOffForTheQueriesOfASession() {
    try (LocalCluster cluster = LocalCluster.start()) {
      query(cluster);
      PathAssert.allRead(cluster);
      long read = cluster.totals().read();

      cluster.session().sql("SET " + PROVIDER + "=off");
      query(cluster);
      assertPaths(cluster, read);

      cluster.session().sql("RESET " + PROVIDER);
      query(cluster);
      assertThat(cluster.totals().read()).isGreaterThan(read);
    }
  }

  private static JavaPairRDD<Integer, byte[]> shuffle(LocalCluster cluster) {
    return KnownShuffle.SMALL.repartitioned(cluster.context(), PARTITIONS);
  }

  private static void assertAnswer(JavaPairRDD<Integer, byte[]> shuffled) {
    assertThat(KnownShuffle.answerOf(shuffled)).isEqualTo(KnownShuffle.SMALL.answer());
  }

  private static void query(LocalCluster cluster) {
    assertThat(cluster.session().range(0, 10_000, 1, 8).repartition(6).distinct().count())
        .isEqualTo(10_000);
  }

  /** Asserts that this number of remote blocks was READ, and that all others count as OFF. */
  private static void assertPaths(LocalCluster cluster, long read) {
    Totals totals = cluster.totals();
    assertThat(totals.read()).isEqualTo(read);
    assertThat(totals.fallbackByReason()).containsOnlyKeys("OFF");
    assertThat(totals.fallback()).isPositive().isEqualTo(cluster.metrics().remoteBlocks() - read);
  }
}
