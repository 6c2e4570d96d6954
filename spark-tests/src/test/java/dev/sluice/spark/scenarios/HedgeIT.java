// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.scenarios;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.spark.account.Totals;
import org.apache.spark.api.java.JavaPairRDD;
import org.junit.jupiter.api.Test;

/** Few READs take much longer than most, and Spark's transfer fetches their blocks. */
final class HedgeIT {
  /** Several hundred batches for each executor: nothing is late among the first hundred. */
  private static final int PARTITIONS = 400;

  private static final int RUNS = 2;

  /** One batch of some 20 is late, as it has eight ranges or so. */
  private static final String FAULTS = "seed=1;delay=0.006:300";

  @Test
  void lateBatchesComeBySparksTransferWithinTwoPercentOfExtraBytes() {
    KnownShuffle data = new KnownShuffle(16, 2_000, 2_000, 100);
    try (LocalCluster cluster =
        LocalCluster.start(
            "spark.shuffle.rdma.read.hedge", "true", "spark.shuffle.rdma.soft.faults", FAULTS)) {
      JavaPairRDD<Integer, byte[]> shuffled = data.repartitioned(cluster.context(), PARTITIONS);
      for (int run = 0; run < RUNS; run++) {
        assertThat(KnownShuffle.answerOf(shuffled)).isEqualTo(data.answer());
      }

      Totals totals = cluster.totals();
      assertThat(totals.of("hedge.batches")).isPositive();
      assertThat(totals.of("hedge.bytes")).isBetween(1L, totals.readBytes() / 50);
      assertThat(totals.fallbackByReason()).containsOnlyKeys("LATE");
    }
  }
}
