// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.scenarios;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.spark.account.Totals;
import java.io.File;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.apache.spark.SparkEnv;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.network.util.JavaUtils;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerTaskEnd;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Whatever happens to READs, the answer is right. */
final class FaultsIT {
  private static final int PARTITIONS = 8;
  private static final Duration TIMEOUT = Duration.ofMinutes(1);

  // Partition tables are shorter than this, blocks of the data below are longer.
  private static final String BLOCKS_ONLY = "seed=1;minLength=2048;";

  @Test
  void falsifiedBlocksAreFoundByTheirChecksumsAndReadAgain() {
    try (LocalCluster cluster = start(BLOCKS_ONLY + "corrupt=0.2")) {
      Totals totals = shuffle(cluster);
      assertThat(totals.corruptions()).isPositive();
      assertThat(totals.read()).isPositive();
      assertThat(totals.of("gathered.blocks")).isPositive();
      assertThat(totals.fallbackByReason().keySet()).isSubsetOf("CHECKSUM");
    }
  }

  @Test
  void falsifiedPartitionTablesDoNotFalsifyTheAnswer() {
    try (LocalCluster cluster = start("seed=2;corrupt=0.3")) {
      Totals totals = shuffle(cluster);
      assertThat(totals.read()).isPositive();
    }
  }

  @Test
  void aConnectionCutInMidReadIsReplacedAndNothingFallsBack() {
    try (LocalCluster cluster = start(BLOCKS_ONLY + "kill@10")) {
      Totals totals = shuffle(cluster);
      assertThat(totals.of("transfer.queue-pairs-failed")).isPositive();
      PathAssert.allRead(cluster);
    }
  }

  @Test
  void connectionsCutAgainAndAgainLeaveTheRestToSparksTransfer() {
    try (LocalCluster cluster = start(BLOCKS_ONLY + "kill=0.5")) {
      Totals totals = shuffle(cluster);
      assertThat(totals.of("transfer.queue-pairs-failed")).isPositive();
      assertThat(totals.fallbackByReason().keySet())
          .isNotEmpty()
          .isSubsetOf("TRANSPORT", "CONNECT", "CIRCUIT_OPEN");
    }
  }

  @Test
  void anExecutorKilledWhileOthersReduceCostsAStageNotTheAnswer(@TempDir Path directory)
      throws Exception {
    KnownShuffle data = KnownShuffle.SMALL;
    Gate gate = Gate.create(directory);
    try (LocalCluster cluster = LocalCluster.start()) {
      JavaPairRDD<Integer, byte[]> gated =
          data.repartitioned(cluster.context(), PARTITIONS).mapPartitionsToPair(gate::pass, true);
      CompletableFuture<Map<Integer, Long>> answer =
          CompletableFuture.supplyAsync(() -> KnownShuffle.answerOf(gated));
      gate.awaitArrivals(2);
      cluster.executors().getFirst().destroyForcibly();
      gate.open();
      assertThat(answer.get(3, TimeUnit.MINUTES)).isEqualTo(data.answer());
      assertThat(cluster.totals().read()).isPositive();
      assertThat(cluster.totals().of("gathered.blocks")).isPositive();
    }
  }

  @Test
  void executorsThatLiveAreReadFromWhenSparkHasTakenThemForLost() throws Exception {
    KnownShuffle data = KnownShuffle.SMALL;
    try (LocalCluster cluster = LocalCluster.start()) {
      JavaPairRDD<Integer, byte[]> shuffled = data.repartitioned(cluster.context(), PARTITIONS);
      cluster.write(shuffled);
      awaitRegistered(cluster, data);

      // A fetch failure removes them too; the executors' next heartbeats bring them back.
      SparkEnv.get().blockManager().master().removeExecutor("0");
      SparkEnv.get().blockManager().master().removeExecutor("1");
      cluster.context().sc().listenerBus().waitUntilEmpty(TIMEOUT.toMillis());

      assertThat(KnownShuffle.answerOf(shuffled)).isEqualTo(data.answer());
      PathAssert.allRead(cluster);
    }
  }

  /** Deletes the folder as a cleaner of temporary folders does. */
  @Test
  void registeredOutputsAreReadWhenTheirFolderIsDeletedAndNewMapTasksFailThere() throws Exception {
    KnownShuffle data = KnownShuffle.SMALL;
    FailedTasks failed = new FailedTasks();
    // Tasks that fail at one executor go to the other.
    try (LocalCluster cluster = LocalCluster.start("spark.excludeOnFailure.enabled", "true")) {
      JavaPairRDD<Integer, byte[]> shuffled = data.repartitioned(cluster.context(), PARTITIONS);
      cluster.write(shuffled);
      awaitRegistered(cluster, data);
      long readBefore = cluster.totals().read();
      cluster.context().parallelize(List.of(1, 2, 3, 4), 4).foreach(_ -> deleteFolders());
      cluster.context().sc().addSparkListener(failed);

      assertThat(KnownShuffle.answerOf(shuffled)).isEqualTo(data.answer());
      cluster.write(data.repartitioned(cluster.context(), PARTITIONS));

      assertThat(cluster.totals().read()).isGreaterThan(readBefore);
      assertThat(cluster.totals().fallbackByReason()).isEmpty();
      assertThat(failed.executors).containsOnly("0");
    }
  }

  private static void awaitRegistered(LocalCluster cluster, KnownShuffle data)
      throws InterruptedException {
    int expected = data.maps() + LocalCluster.REPORTING_MAPS;
    cluster.awaitTotals(
        "all to be registered", totals -> totals.of("registry.registered-outputs") == expected);
  }

  private static void deleteFolders() throws Exception {
    TimeUnit.MILLISECONDS.sleep(300); // so that each executor gets tasks
    if (SparkEnv.get().executorId().equals("0")) {
      for (File folder : SparkEnv.get().blockManager().diskBlockManager().localDirs()) {
        JavaUtils.deleteRecursively(folder);
      }
    }
  }

  /** The executors at which tasks fail. */
  private static final class FailedTasks extends SparkListener {
    private final Set<String> executors = ConcurrentHashMap.newKeySet();

    @Override
    public void onTaskEnd(SparkListenerTaskEnd end) {
      if (end.taskInfo().failed()) {
        executors.add(end.taskInfo().executorId());
      }
    }
  }

  /** Plain blocks, so that a falsified byte falsifies one record. */
  private static LocalCluster start(String faults) {
    return LocalCluster.start(
        "spark.shuffle.rdma.soft.faults", faults, "spark.shuffle.compress", "false");
  }

  private static Totals shuffle(LocalCluster cluster) {
    KnownShuffle data = KnownShuffle.SMALL;
    assertThat(KnownShuffle.answerOf(data.repartitioned(cluster.context(), PARTITIONS)))
        .isEqualTo(data.answer());
    return cluster.totals();
  }
}
