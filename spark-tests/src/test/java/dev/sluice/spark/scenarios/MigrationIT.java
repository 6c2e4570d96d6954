// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.scenarios;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.Objects;
import java.util.stream.Stream;
import org.apache.spark.ExecutorAllocationClient;
import org.apache.spark.MapOutputTrackerMaster;
import org.apache.spark.ShuffleDependency;
import org.apache.spark.SparkEnv;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.scheduler.ExecutorDecommissionInfo;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import scala.Option;

/**
 * Map outputs that migrated to another executor have no checksums there, and are READ all the same.
 */
final class MigrationIT {
  private static final KnownShuffle DATA = KnownShuffle.SMALL;
  private static final int PARTITIONS = 8;
  private static final String LEAVING = "0";

  /**
   * One of three executors leaves. Map outputs that the others wrote themselves are READ from their
   * files.
   */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void migratedMapOutputsAreStaged(boolean encrypted) throws Exception {
    try (LocalCluster cluster = ofThree(encrypted)) {
      JavaPairRDD<Integer, byte[]> shuffled = DATA.repartitioned(cluster.context(), PARTITIONS);
      ShuffleDependency<?, ?, ?> shuffle = cluster.write(shuffled);
      long written = heldBy(LEAVING, shuffle);
      leave(cluster, LEAVING, shuffle);
      assertThat(written).isBetween(1L, DATA.maps() - 1L);

      assertThat(KnownShuffle.answerOf(shuffled)).isEqualTo(DATA.answer());

      if (encrypted) {
        PathAssert.allStaged(cluster);
      } else {
        PathAssert.partlyStaged(cluster);
      }
      assertThat(cluster.totals().of("gathered.blocks")).isPositive();
    }
  }

  /** Sluice has not started at that executor, as it has run no task. */
  @Test
  void anIdleExecutorServesMapOutputsThatMigrateToIt() throws Exception {
    KnownShuffle one = new KnownShuffle(1, 500, 400, 100);
    try (LocalCluster cluster = ofThree(false)) {
      JavaPairRDD<Integer, byte[]> shuffled = one.repartitioned(cluster.context(), PARTITIONS);
      ShuffleDependency<?, ?, ?> shuffle = cluster.write(shuffled);
      String writer = holders(shuffle).findFirst().orElseThrow();
      leave(cluster, writer, shuffle);
      String holder = holders(shuffle).findFirst().orElseThrow();

      LocalCluster.await(
          "the map output to be served", () -> hasThread(cluster, holder, "sluice-register"));

      assertThat(KnownShuffle.answerOf(shuffled)).isEqualTo(one.answer());
    }
  }

  private static LocalCluster ofThree(boolean encrypted) {
    return LocalCluster.start(
        "spark.master", "local-cluster[3,1,1024]",
        "spark.cores.max", "3",
        "spark.decommission.enabled", "true",
        "spark.storage.decommission.enabled", "true",
        "spark.storage.decommission.shuffleBlocks.enabled", "true",
        "spark.storage.decommission.replicationReattemptInterval", "1s",
        "spark.io.encryption.enabled", Boolean.toString(encrypted));
  }

  /** Returns when the executor's map outputs have left it. */
  private static void leave(
      LocalCluster cluster, String executorId, ShuffleDependency<?, ?, ?> shuffle)
      throws InterruptedException {
    ExecutorDecommissionInfo info = new ExecutorDecommissionInfo("it leaves", Option.empty());
    ExecutorAllocationClient executors =
        (ExecutorAllocationClient) cluster.session().sparkContext().schedulerBackend();
    assertThat(executors.decommissionExecutor(executorId, info, false, false)).isTrue();
    LocalCluster.await("all to migrate", () -> heldBy(executorId, shuffle) == 0);
  }

  private static long heldBy(String executorId, ShuffleDependency<?, ?, ?> shuffle) {
    return holders(shuffle).filter(executorId::equals).count();
  }

  /** For each map output the executor that holds it, as the driver knows. */
  private static Stream<String> holders(ShuffleDependency<?, ?, ?> shuffle) {
    MapOutputTrackerMaster tracker = (MapOutputTrackerMaster) SparkEnv.get().mapOutputTracker();
    return Arrays.stream(tracker.shuffleStatuses().apply(shuffle.shuffleId()).mapStatuses())
        .filter(Objects::nonNull)
        .map(status -> status.location().executorId());
  }

  private static boolean hasThread(LocalCluster cluster, String executorId, String name) {
    return Arrays.stream(cluster.session().sparkContext().getExecutorThreadDump(executorId).get())
        .anyMatch(thread -> thread.threadName().equals(name));
  }
}
