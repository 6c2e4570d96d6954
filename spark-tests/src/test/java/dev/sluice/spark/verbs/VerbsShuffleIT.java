// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import dev.sluice.spark.scenarios.KnownShuffle;
import dev.sluice.spark.scenarios.LocalCluster;
import dev.sluice.spark.scenarios.PathAssert;
import dev.sluice.verbs.Cable;
import dev.sluice.verbs.NeedsRdmaDevice;
import dev.sluice.verbs.RdmaDevices;
import java.lang.ref.Reference;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.apache.spark.api.java.JavaPairRDD;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Shuffles by READs of a real device, confirmed by the kernel: queue pairs and regions that
 * existed, packets that arrived, and nothing left behind.
 */
@NeedsRdmaDevice
final class VerbsShuffleIT {
  private static final KnownShuffle DATA = KnownShuffle.SMALL;
  private static final int PARTITIONS = 8;
  private static final int MAX_PACKET_BYTES = 4096;

  private RdmaResources before;

  @BeforeEach
  void lookAtTheKernel() throws Exception {
    before = RdmaResources.now();
  }

  @AfterEach
  void nothingIsLeftInTheKernel() throws Exception {
    RdmaResources.awaitNothingButWhatWas(before);
  }

  @Test
  void everyRemoteBlockIsReadAndTheKernelHasSeenIt() throws Exception {
    long packets = RdmaResources.receivedPackets();
    try (LocalCluster cluster = startRegistering()) {
      JavaPairRDD<Integer, byte[]> kept = shuffle(cluster);
      PathAssert.allRead(cluster);
      RdmaResources during = RdmaResources.now();
      Reference.reachabilityFence(kept); // otherwise Spark may remove the shuffle before
      // One to READ by and one to be READ from, for each executor that had something to READ.
      assertThat(during.count("qp") - before.count("qp")).isIn(2, 4);
      // Map outputs are on both; each has its file, and partition tables.
      assertThat(during.count("mr") - before.count("mr")).isGreaterThan(DATA.maps());
      assertThat(during.count("ctx") - before.count("ctx")).isEqualTo(2);
      assertThat(connectedProcesses()).isEqualTo(executors(cluster));
      assertThat(RdmaResources.receivedPackets() - packets)
          .isGreaterThan(cluster.totals().readBytes() / MAX_PACKET_BYTES);
    }
  }

  @Test
  void regionsGoWithTheirShuffle() throws Exception {
    try (LocalCluster cluster = startRegistering()) {
      JavaPairRDD<Integer, byte[]> kept = shuffle(cluster);
      int during = RdmaResources.now().count("mr");
      Reference.reachabilityFence(kept); // otherwise Spark may remove the shuffle before
      cluster.context().sc().cleaner().get().doCleanupShuffle(0, true);
      assertThat(during - RdmaResources.now().count("mr")).isGreaterThanOrEqualTo(DATA.maps());
      shuffle(cluster);
      PathAssert.allRead(cluster);
    }
  }

  /** The pinned bytes of each executor are sampled all the time. */
  @Test
  void aShuffleOfTenTimesTheBudgetIsReadAndNoMoreIsPinnedThanAllowed() throws Exception {
    long budget = 2 << 20;
    long staging = 4 << 20;
    long buffers = 1 << 20;
    KnownShuffle large = new KnownShuffle(96, 500, 400, 1_000); // 24 MB for each of two executors
    try (LocalCluster cluster =
            startRegistering(
                "spark.shuffle.rdma.registration.maxBytes", budget + "b",
                "spark.shuffle.rdma.staging.maxBytes", staging + "b",
                "spark.shuffle.rdma.buffers.maxBytes", buffers + "b");
        PinnedBytes pinned = new PinnedBytes()) {
      assertThat(KnownShuffle.answerOf(large.repartitioned(cluster.context(), PARTITIONS)))
          .isEqualTo(large.answer());
      PathAssert.partlyStaged(cluster);
      assertThat(pinned.most().keySet()).isEqualTo(executors(cluster));
      assertThat(pinned.most().values())
          .allSatisfy(most -> assertThat(most).isBetween(budget / 2, budget + staging + buffers));
    }
  }

  @Test
  void aShuffleThatIsOverGivesWayToTheNext() {
    try (LocalCluster cluster =
        startRegistering(
            "spark.shuffle.rdma.registration.maxBytes",
            "1m",
            "spark.shuffle.rdma.registration.idleTimeout",
            "1s")) {
      long deadline = System.nanoTime() + TimeUnit.MINUTES.toNanos(1);
      List<JavaPairRDD<Integer, byte[]>> kept = new ArrayList<>(); // else Spark removes them first
      do {
        assertThat(System.nanoTime() - deadline).as("a shuffle was evicted").isNegative();
        kept.add(DATA.repartitioned(cluster.context(), PARTITIONS));
        assertThat(KnownShuffle.answerOf(kept.getLast())).isEqualTo(DATA.answer());
      } while (cluster.totals().of("registry.evictions") == 0);
      long read = cluster.totals().read();
      shuffle(cluster);
      assertThat(cluster.totals().read()).isGreaterThan(read);
      PathAssert.allRead(cluster);
    }
  }

  @Test
  @Cable.Needed
  void executorsOnTwoDevicesReadFromEachOther() throws Exception {
    try (LocalCluster cluster = VerbsCluster.start("spark.shuffle.rdma.devices", "rxe0,rxe1")) {
      shuffle(cluster);
      PathAssert.allRead(cluster);
      Map<String, Set<Long>> connected = RdmaResources.connected();
      assertThat(connected).containsOnlyKeys("rxe0", "rxe1");
      assertThat(connected.values()).allMatch(processes -> processes.size() == 1);
      assertThat(connectedProcesses()).isEqualTo(executors(cluster));
    }
  }

  @Test
  @Cable.Needed
  void onlyADeviceThatIsNamedIsUsed() throws Exception {
    try (LocalCluster cluster = VerbsCluster.start("spark.shuffle.rdma.devices", "=rxe1")) {
      shuffle(cluster);
      PathAssert.allRead(cluster);
      assertThat(RdmaResources.connected()).isEqualTo(Map.of("rxe1", executors(cluster)));
    }
  }

  /** Starts a cluster that registers map outputs, instead of staging all of them. */
  private static LocalCluster startRegistering(String... settings) {
    assumeThat(RdmaDevices.kernelPinsForReading()).as("the kernel is 6.2 or newer").isTrue();
    return VerbsCluster.start(settings);
  }

  private static JavaPairRDD<Integer, byte[]> shuffle(LocalCluster cluster) {
    JavaPairRDD<Integer, byte[]> repartitioned = DATA.repartitioned(cluster.context(), PARTITIONS);
    assertThat(KnownShuffle.answerOf(repartitioned)).isEqualTo(DATA.answer());
    return repartitioned;
  }

  private static Set<Long> executors(LocalCluster cluster) {
    List<ProcessHandle> executors = cluster.executors();
    return executors.stream().map(ProcessHandle::pid).collect(Collectors.toSet());
  }

  private static Set<Long> connectedProcesses() throws Exception {
    return RdmaResources.connected().values().stream()
        .flatMap(Set::stream)
        .collect(Collectors.toSet());
  }
}
