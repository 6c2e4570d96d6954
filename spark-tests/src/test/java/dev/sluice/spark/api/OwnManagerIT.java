// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.api;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.spark.account.Totals;
import dev.sluice.spark.examples.ArrivalOrderShuffleManager;
import dev.sluice.spark.scenarios.KnownShuffle;
import dev.sluice.spark.scenarios.LocalCluster;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import org.apache.spark.SparkEnv;
import org.apache.spark.api.java.JavaPairRDD;
import org.junit.jupiter.api.Test;
import scala.Tuple2;

/** The example of another shuffle manager READs blocks by the public interface, in its own way. */
final class OwnManagerIT {
  private static final KnownShuffle DATA = KnownShuffle.SMALL;
  private static final int PARTITIONS = 8;
  private static final Duration SETTLE = Duration.ofSeconds(10);

  @Test
  void anotherManagerReadsByTheClient() throws Exception {
    try (LocalCluster cluster = start("soft")) {
      assertThat(KnownShuffle.answerOf(DATA.repartitioned(cluster.context(), PARTITIONS)))
          .isEqualTo(DATA.answer());
      Totals totals = totals(cluster);
      assertThat(totals.read()).isPositive().isEqualTo(cluster.metrics().remoteBlocks());
      assertThat(totals.readBytes()).isEqualTo(cluster.metrics().remoteBytes());
      assertThat(totals.fallbackByReason()).isEmpty();
    }
  }

  @Test
  void sparksReaderReadsTheShufflesThatItDoesNotReadItself() {
    try (LocalCluster cluster = start("soft")) {
      List<Tuple2<Integer, Integer>> sums =
          cluster
              .context()
              .parallelize(IntStream.range(0, 100).boxed().toList(), 4)
              .mapToPair(i -> new Tuple2<>(i % 3, 1))
              .reduceByKey(Integer::sum, 4)
              .sortByKey()
              .collect();
      assertThat(sums)
          .containsExactly(new Tuple2<>(0, 34), new Tuple2<>(1, 33), new Tuple2<>(2, 33));
    }
  }

  @Test
  void mapOutputsOfALostExecutorAreWrittenAgain() {
    try (LocalCluster cluster = start("soft")) {
      JavaPairRDD<Integer, byte[]> shuffled = DATA.repartitioned(cluster.context(), PARTITIONS);
      assertThat(KnownShuffle.answerOf(shuffled)).isEqualTo(DATA.answer());
      cluster.executors().getFirst().destroyForcibly();
      assertThat(KnownShuffle.answerOf(shuffled)).isEqualTo(DATA.answer());
    }
  }

  @Test
  void withoutRdmaItHasSparksOwnParts() throws Exception {
    try (LocalCluster cluster = start("off")) {
      assertThat(KnownShuffle.answerOf(DATA.repartitioned(cluster.context(), PARTITIONS)))
          .isEqualTo(DATA.answer());
      assertThat(cluster.metrics().remoteBlocks()).isPositive();
      assertThat(manager().totals()).isEmpty();
    }
  }

  private static LocalCluster start(String provider) {
    return LocalCluster.start(
        "spark.shuffle.manager",
        ArrivalOrderShuffleManager.class.getName(),
        "spark.shuffle.rdma.provider",
        provider);
  }

  private static ArrivalOrderShuffleManager manager() {
    return (ArrivalOrderShuffleManager) SparkEnv.get().shuffleManager();
  }

  /** Waits until the executors have reported all blocks that Spark counted. */
  private static Totals totals(LocalCluster cluster) throws InterruptedException {
    long blocks = cluster.metrics().remoteBlocks();
    long deadline = System.nanoTime() + SETTLE.toNanos();
    Totals totals = new Totals(manager().totals());
    while (totals.blocks() < blocks && System.nanoTime() - deadline < 0) {
      Thread.sleep(50);
      totals = new Totals(manager().totals());
    }
    return totals;
  }
}
