// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.spark.account.Totals;
import dev.sluice.spark.scenarios.Gate;
import dev.sluice.spark.scenarios.KnownShuffle;
import dev.sluice.spark.scenarios.LocalCluster;
import dev.sluice.spark.scenarios.PathAssert;
import dev.sluice.verbs.Cable;
import dev.sluice.verbs.NeedsRdmaDevice;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.apache.spark.SparkStageInfo;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.api.java.JavaSparkStatusTracker;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Faults of two executors' devices, or of one of the executors, in the middle of a job. The answer
 * arrives and is right, and READs resume afterwards.
 */
@NeedsRdmaDevice
@Cable.Needed
final class VerbsFaultsIT {
  private static final KnownShuffle DATA = KnownShuffle.SMALL;
  private static final int PARTITIONS = 8;

  private final Cable cable = new Cable();
  private RdmaResources before;

  @TempDir private Path directory;

  @BeforeEach
  void lookAtTheKernel() throws Exception {
    before = RdmaResources.now();
  }

  @AfterEach
  void mendTheCable() throws Exception {
    cable.mend();
    RdmaResources.awaitNothingButWhatWas(before);
  }

  @Test
  void packetsThatAreLostCostTimeAndNothingElse() throws Exception {
    try (LocalCluster cluster = start("spark.shuffle.rdma.timeoutExponent", "16")) {
      cable.suffer(Cable.Fault.LOSSY);
      assertThat(KnownShuffle.answerOf(repartitioned(cluster))).isEqualTo(DATA.answer());
      PathAssert.allRead(cluster);
    }
  }

  /** An unanswered request fails after 270 ms, so that the test need not wait for long. */
  @ParameterizedTest
  @EnumSource(
      value = Cable.Fault.class,
      names = {"SILENT", "CUT"})
  void blocksGoBySparksTransferUntilTheNetworkIsBack(Cable.Fault fault) throws Exception {
    try (LocalCluster cluster =
        start(
            "spark.shuffle.rdma.timeoutExponent",
            "14",
            "spark.shuffle.rdma.retryCount",
            "3",
            "spark.shuffle.rdma.circuit.cooldown",
            "1s",
            "spark.reducer.maxReqsInFlight",
            "1",
            "spark.reducer.maxBlocksInFlightPerAddress",
            "1")) {
      assertThat(KnownShuffle.answerOf(repartitioned(cluster))).isEqualTo(DATA.answer());
      PathAssert.allRead(cluster);

      Gate gate = Gate.create(directory);
      CompletableFuture<Map<Integer, Long>> answer = answerBehind(gate, cluster);
      gate.awaitArrivals(2);
      cable.suffer(fault);
      gate.open();
      assertThat(answer.get(3, TimeUnit.MINUTES)).isEqualTo(DATA.answer());
      Totals totals = cluster.totals();
      assertThat(totals.fallbackByReason().keySet())
          .isNotEmpty()
          .isSubsetOf("TRANSPORT", "CONNECT", "CIRCUIT_OPEN");
      assertThat(totals.read() + totals.fallback()).isEqualTo(cluster.metrics().remoteBlocks());

      cable.mend();
      awaitReads(cluster, totals.read());
    }
  }

  /** Its executor goes on without READs, in both directions, and writes map outputs as before. */
  @Test
  void aDeviceThatIsTakenOutCostsNoStage() throws Exception {
    try (LocalCluster cluster =
        start(
            "spark.shuffle.rdma.timeoutExponent",
            "14",
            "spark.shuffle.rdma.retryCount",
            "3",
            "spark.reducer.maxReqsInFlight",
            "1",
            "spark.reducer.maxBlocksInFlightPerAddress",
            "1")) {
      assertThat(KnownShuffle.answerOf(repartitioned(cluster))).isEqualTo(DATA.answer());
      PathAssert.allRead(cluster);

      Gate gate = Gate.create(directory);
      CompletableFuture<Map<Integer, Long>> answer = answerBehind(gate, cluster);
      gate.awaitArrivals(2);
      cable.suffer(Cable.Fault.REMOVED);
      gate.open();
      assertThat(answer.get(3, TimeUnit.MINUTES)).isEqualTo(DATA.answer());
      assertThat(KnownShuffle.answerOf(repartitioned(cluster))).isEqualTo(DATA.answer());

      Totals totals = cluster.totals();
      assertThat(totals.fallbackByReason()).isNotEmpty();
      assertThat(totals.read() + totals.fallback()).isEqualTo(cluster.metrics().remoteBlocks());
      assertThat(attempts(cluster)).as("attempts at stages").containsOnly(0);
    }
  }

  /** The number of the last attempt at each stage that has run. */
  private static List<Integer> attempts(LocalCluster cluster) {
    JavaSparkStatusTracker tracker = cluster.context().statusTracker();
    return Arrays.stream(tracker.getJobIdsForGroup(null))
        .mapToObj(tracker::getJobInfo)
        .flatMapToInt(job -> Arrays.stream(job.stageIds()))
        .mapToObj(tracker::getStageInfo)
        .filter(Objects::nonNull)
        .map(SparkStageInfo::currentAttemptId)
        .toList();
  }

  @Test
  void anExecutorKilledWhileOthersReduceCostsAStageNotTheAnswer() throws Exception {
    Gate gate = Gate.create(directory);
    try (LocalCluster cluster = start()) {
      assertThat(KnownShuffle.answerOf(repartitioned(cluster))).isEqualTo(DATA.answer());
      PathAssert.allRead(cluster);
      CompletableFuture<Map<Integer, Long>> answer = answerBehind(gate, cluster);
      gate.awaitArrivals(2);
      cluster.executors().getFirst().destroyForcibly();
      gate.open();
      assertThat(answer.get(5, TimeUnit.MINUTES)).isEqualTo(DATA.answer());
      assertThat(cluster.totals().fallbackByReason().keySet())
          .isSubsetOf("PEER", "CONNECT", "TRANSPORT", "CIRCUIT_OPEN", "NOT_REGISTERED");
    }
  }

  /** Puts each executor on a device of its own, so that all READs go over the cable. */
  private static LocalCluster start(String... settings) {
    Stream<String> devices = Stream.of("spark.shuffle.rdma.devices", "rxe0,rxe1");
    return VerbsCluster.start(Stream.concat(devices, Stream.of(settings)).toArray(String[]::new));
  }

  private static JavaPairRDD<Integer, byte[]> repartitioned(LocalCluster cluster) {
    return DATA.repartitioned(cluster.context(), PARTITIONS);
  }

  /** Shuffles until blocks are READ again, once the breakers let a probe through. */
  private static void awaitReads(LocalCluster cluster, long readBefore) {
    long deadline = System.nanoTime() + TimeUnit.MINUTES.toNanos(2);
    do {
      assertThat(System.nanoTime() - deadline).as("READs after the fault").isNegative();
      assertThat(KnownShuffle.answerOf(repartitioned(cluster))).isEqualTo(DATA.answer());
    } while (cluster.totals().read() == readBefore);
  }

  private static CompletableFuture<Map<Integer, Long>> answerBehind(
      Gate gate, LocalCluster cluster) {
    JavaPairRDD<Integer, byte[]> gated =
        repartitioned(cluster).mapPartitionsToPair(gate::pass, true);
    return CompletableFuture.supplyAsync(() -> KnownShuffle.answerOf(gated));
  }
}
