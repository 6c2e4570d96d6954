package dev.sluice.spark.scenarios;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** A block that no array can hold. Needs 7 GB of disk. */
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
}
