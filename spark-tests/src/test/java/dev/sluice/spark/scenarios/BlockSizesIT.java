// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.scenarios;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** Blocks of unusual sizes. */
final class BlockSizesIT {
  @Test
  void blocksTooLargeForMemoryAreReadToDisk() {
    KnownShuffle data = new KnownShuffle(4, 2_000, 100, 4_000);
    try (LocalCluster cluster =
        LocalCluster.start(
            "spark.network.maxRemoteBlockSizeFetchToMem", "100k",
            "spark.shuffle.compress", "false")) {
      assertThat(KnownShuffle.answerOf(data.repartitioned(cluster.context(), 4)))
          .isEqualTo(data.answer());
      PathAssert.allRead(cluster);
      assertThat(cluster.metrics().remoteBytesToDisk()).isPositive();
    }
  }

  @Test
  void manyEmptyPartitionsCostNoReads() {
    KnownShuffle data = new KnownShuffle(8, 50, 5, 100);
    try (LocalCluster cluster = LocalCluster.start()) {
      assertThat(KnownShuffle.answerOf(data.repartitioned(cluster.context(), 300).coalesce(4)))
          .isEqualTo(data.answer());
      PathAssert.allRead(cluster);
    }
  }
}
