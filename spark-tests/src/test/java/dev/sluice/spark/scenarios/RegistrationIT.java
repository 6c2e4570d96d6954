// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.scenarios;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sluice.spark.account.Totals;
import java.lang.ref.Reference;
import java.nio.file.Path;
import org.apache.spark.api.java.JavaPairRDD;
import org.junit.jupiter.api.Test;

/** Map output files become memory regions in the configured way, or the log has the reason. */
final class RegistrationIT {
  private static final String MODE = "spark.shuffle.rdma.registration.mode";
  private static final KnownShuffle DATA = new KnownShuffle(16, 5_000, 400, 100);
  private static final int PARTITIONS = 8;
  private static final int EXECUTORS = 2;
  private static final long TABLE_BYTES = EXECUTORS * (128L << 10);

  @Test
  void theSoftwareProviderMapsNothing() throws Exception {
    try (LocalCluster cluster = LocalCluster.start()) {
      JavaPairRDD<Integer, byte[]> shuffled = shuffle(cluster, PARTITIONS);
      PathAssert.allRead(cluster);
      for (ProcessHandle executor : cluster.executors()) {
        assertThat(Path.of("/proc", String.valueOf(executor.pid()), "maps"))
            .content()
            .doesNotContain("shuffle_");
      }
      Totals totals = cluster.totals();
      assertThat(totals.of("registry.directories-open-files")).isEqualTo(EXECUTORS);
      assertThat(totals.of("registry.registered-bytes")).isBetween(1L, TABLE_BYTES);
      assertThat(totals.stagedBytes()).isZero();
      Reference.reachabilityFence(shuffled);
    }
  }

  /** The partition tables of four map outputs are 20 KiB, and those of the others have no room. */
  @Test
  void mapOutputsWithoutRoomAreStaged() {
    try (LocalCluster cluster =
        LocalCluster.start("spark.shuffle.rdma.registration.maxBytes", "32k")) {
      JavaPairRDD<Integer, byte[]> shuffled = shuffle(cluster, 300);
      PathAssert.partlyStaged(cluster);
      Totals totals = cluster.totals();
      assertThat(totals.of("registry.staged-outputs"))
          .isBetween(1L, totals.of("registry.registrations") - 1);
      assertThat(totals.of("registry.registered-bytes")).isBetween(1L, TABLE_BYTES);
      Reference.reachabilityFence(shuffled);
    }
  }

  /** Tables are not registered either: readers ask the server for the entries that they need. */
  @Test
  void whereNothingMayBeRegisteredEverythingIsStaged() {
    try (LocalCluster cluster =
        LocalCluster.start("spark.shuffle.rdma.registration.maxBytes", "0")) {
      shuffle(cluster, 6_000);
      PathAssert.allStaged(cluster);
      Totals totals = cluster.totals();
      assertThat(totals.of("registry.staged-outputs"))
          .isEqualTo(totals.of("registry.registrations"));
      assertThat(totals.of("registry.registered-bytes")).isZero();
    }
  }

  @Test
  void modesThatTheDeviceLacksEndTheApplicationWithTheReason() {
    assertThatThrownBy(
            () -> {
              try (LocalCluster cluster = LocalCluster.start(MODE, "odp")) {
                shuffle(cluster, PARTITIONS);
              }
            })
        .hasStackTraceContaining(MODE + " is \"odp\", which does not work in")
        .hasStackTraceContaining("no on-demand paging");
  }

  /** The registrations last as long as the driver can reach the returned RDD. */
  private static JavaPairRDD<Integer, byte[]> shuffle(LocalCluster cluster, int partitions) {
    JavaPairRDD<Integer, byte[]> shuffled = DATA.repartitioned(cluster.context(), partitions);
    // Coalesce to fewer partitions: starting a task takes longer than reading its blocks.
    assertThat(KnownShuffle.answerOf(shuffled.coalesce(PARTITIONS))).isEqualTo(DATA.answer());
    return shuffled;
  }
}
