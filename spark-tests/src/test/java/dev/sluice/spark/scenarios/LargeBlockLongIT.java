// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.scenarios;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Blocks that no array can hold. Need 16 GB of disk. */
final class LargeBlockLongIT {
  @Test
  void aBlockOfMoreThanTwoGibibytesIsReadToDisk() {
    // A map output on each executor, all of it in one partition: one block is remote.
    KnownShuffle data = new KnownShuffle(2, 2_100, 10, 1 << 20);
    try (LocalCluster cluster =
        LocalCluster.start(
            "spark.shuffle.rdma.registration.maxBytes", "8g",
            "spark.shuffle.rdma.read.timeout", "10min",
            "spark.shuffle.compress", "false")) {
      assertThat(KnownShuffle.answerOf(data.repartitioned(cluster.context(), 1)))
          .isEqualTo(data.answer());
      PathAssert.allRead(cluster);
      assertThat(cluster.metrics().remoteBytesToDisk()).isGreaterThan(Integer.MAX_VALUE);
    }
  }

  /** Slice by slice: its peer has room for a three-hundredth of it. */
  @ParameterizedTest(name = "encrypted: {0}")
  @ValueSource(booleans = {false, true})
  void aBlockOfFiveGibibytesIsStagedInSixteenMebibytes(boolean encrypted) {
    KnownShuffle data = new KnownShuffle(2, 5_200, 10, 1 << 20);
    try (LocalCluster cluster =
        LocalCluster.start(
            "spark.shuffle.rdma.registration.maxBytes", "0",
            "spark.shuffle.rdma.staging.maxBytes", "16m",
            "spark.io.encryption.enabled", String.valueOf(encrypted),
            "spark.shuffle.compress", "false")) {
      assertThat(KnownShuffle.answerOf(data.repartitioned(cluster.context(), 1)))
          .isEqualTo(data.answer());
      PathAssert.allStaged(cluster);
      assertThat(cluster.metrics().remoteBytesToDisk()).isGreaterThan(5L << 30);
    }
  }
}
