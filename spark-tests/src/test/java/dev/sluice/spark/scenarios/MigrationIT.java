package dev.sluice.spark.scenarios;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import org.apache.spark.ExecutorAllocationClient;
import org.apache.spark.MapOutputTrackerMaster;
import org.apache.spark.ShuffleDependency;
import org.apache.spark.SparkContext;
import org.apache.spark.SparkEnv;
import org.apache.spark.SparkException;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.scheduler.ExecutorDecommissionInfo;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import scala.Option;

/** What has migrated to another executor has no checksums there, and is READ all the same. */
final class MigrationIT {
  private static final KnownShuffle DATA = KnownShuffle.SMALL;
  private static final int PARTITIONS = 8;
  private static final String LEAVING = "0";
  private static final Duration TIMEOUT = Duration.ofMinutes(1);

  /** Of three, one leaves: what the others have written themselves is READ where it lies. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void whatHasMigratedIsStaged(boolean encrypted) throws Exception {
    try (LocalCluster cluster =
        LocalCluster.start(
            "spark.master", "local-cluster[3,1,1024]",
            "spark.cores.max", "3",
            "spark.decommission.enabled", "true",
            "spark.storage.decommission.enabled", "true",
            "spark.storage.decommission.shuffleBlocks.enabled", "true",
            "spark.storage.decommission.replicationReattemptInterval", "1s",
            "spark.io.encryption.enabled", Boolean.toString(encrypted))) {
      SparkContext spark = cluster.session().sparkContext();
      JavaPairRDD<Integer, byte[]> shuffled = DATA.repartitioned(cluster.context(), PARTITIONS);
      long migrated = writeAndMigrate(spark, shuffled);
      assertThat(migrated).isBetween(1L, DATA.maps() - 1L);

      assertThat(KnownShuffle.answerOf(shuffled)).isEqualTo(DATA.answer());

      if (encrypted) {
        PathAssert.allStaged(cluster);
      } else {
        PathAssert.partlyStaged(cluster);
      }
      assertThat(cluster.totals().of("gathered.blocks")).isPositive();
    }
  }

  /** How many map outputs have left the executor that wrote them. */
  private static long writeAndMigrate(SparkContext spark, JavaPairRDD<?, ?> shuffled)
      throws SparkException, InterruptedException {
    ShuffleDependency<?, ?, ?> shuffle =
        (ShuffleDependency<?, ?, ?>) shuffled.rdd().dependencies().head();
    spark.submitMapStage(shuffle).get();
    long written = ofTheLeaving(shuffle);
    ExecutorDecommissionInfo info = new ExecutorDecommissionInfo("it leaves", Option.empty());
    ExecutorAllocationClient executors = (ExecutorAllocationClient) spark.schedulerBackend();
    assertThat(executors.decommissionExecutor(LEAVING, info, false, false)).isTrue();
    long deadline = System.nanoTime() + TIMEOUT.toNanos();
    while (ofTheLeaving(shuffle) > 0) {
      assertThat(System.nanoTime()).as("not all has migrated").isLessThan(deadline);
      TimeUnit.MILLISECONDS.sleep(100);
    }
    return written;
  }

  /** Map outputs that the driver knows at the executor that leaves. */
  private static long ofTheLeaving(ShuffleDependency<?, ?, ?> shuffle) {
    MapOutputTrackerMaster tracker = (MapOutputTrackerMaster) SparkEnv.get().mapOutputTracker();
    return Arrays.stream(tracker.shuffleStatuses().apply(shuffle.shuffleId()).mapStatuses())
        .filter(status -> status != null && status.location().executorId().equals(LEAVING))
        .count();
  }
}
