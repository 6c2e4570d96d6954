package dev.sluice.spark.scenarios;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sluice.spark.account.Totals;
import org.junit.jupiter.api.Test;

/** Map output files become memory regions in the way that is asked for, or the reason is said. */
final class RegistrationIT {
  private static final String MODE = "spark.shuffle.rdma.registration.mode";
  private static final KnownShuffle DATA = new KnownShuffle(16, 5_000, 400, 100);
  private static final int PARTITIONS = 8;
  private static final int EXECUTORS = 2;

  @Test
  void filesAreMappedWhereTheyCanBe() {
    try (LocalCluster cluster = LocalCluster.start()) {
      shuffle(cluster);
      PathAssert.allRead(cluster);
      Totals totals = cluster.totals();
      assertThat(totals.of("registry.directories-read-only")).isEqualTo(EXECUTORS);
      assertThat(totals.stagedBytes()).isZero();
      assertThat(totals.of("registry.dirtied-bytes")).isZero();
    }
  }

  @Test
  void whatFindsNoRoomIsStaged() {
    long maxBytes = 1 << 20;
    try (LocalCluster cluster =
        LocalCluster.start("spark.shuffle.rdma.registration.maxBytes", String.valueOf(maxBytes))) {
      shuffle(cluster);
      PathAssert.partlyStaged(cluster);
      Totals totals = cluster.totals();
      assertThat(totals.of("registry.staged-outputs"))
          .isBetween(1L, totals.of("registry.registrations") - 1);
      assertThat(totals.of("registry.refusals")).isZero();
      assertThat(totals.of("registry.registered-bytes")).isBetween(1L, EXECUTORS * maxBytes);
    }
  }

  @Test
  void whatTheDeviceCannotDoEndsTheApplicationWithTheReason() {
    assertThatThrownBy(
            () -> {
              try (LocalCluster cluster = LocalCluster.start(MODE, "odp")) {
                shuffle(cluster);
              }
            })
        .hasStackTraceContaining(MODE + " is \"odp\", which does not work in")
        .hasStackTraceContaining("no on-demand paging");
  }

  private static void shuffle(LocalCluster cluster) {
    assertThat(KnownShuffle.answerOf(DATA.repartitioned(cluster.context(), PARTITIONS)))
        .isEqualTo(DATA.answer());
  }
}
