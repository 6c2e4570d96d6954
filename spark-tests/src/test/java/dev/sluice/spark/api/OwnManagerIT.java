// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.api;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.spark.account.ManagerTotals;
import dev.sluice.spark.examples.ArrivalOrderShuffleManager;
import dev.sluice.spark.scenarios.KnownShuffle;
import dev.sluice.spark.scenarios.LocalCluster;
import dev.sluice.spark.scenarios.PathAssert;
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

  @Test
  void anotherManagerReadsByTheClient() {
    try (LocalCluster cluster = start("soft")) {
      assertThat(KnownShuffle.answerOf(DATA.repartitioned(cluster.context(), PARTITIONS)))
          .isEqualTo(DATA.answer());
      PathAssert.allRead(
          cluster, ManagerTotals.settled(manager()::totals, cluster.metrics().remoteBlocks()));
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
  void withoutRdmaItHasSparksOwnParts() {
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
}
