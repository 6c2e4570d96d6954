// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.metrics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import dev.sluice.rdma.transfer.PeerAddress;
import dev.sluice.spark.locate.DirectoryMessage.Details;
import dev.sluice.spark.locate.DirectoryMessage.MemoryLimits;
import dev.sluice.spark.locate.DirectoryMessage.PeerBlocks;
import dev.sluice.spark.locate.DirectoryMessage.PeerFallbacks;
import dev.sluice.spark.locate.DirectoryMessage.PeerReads;
import dev.sluice.spark.locate.DirectoryMessage.ReadTimes;
import dev.sluice.spark.locate.DirectoryMessage.Report;
import dev.sluice.spark.locate.DirectoryMessage.Started;
import dev.sluice.spark.ui.SluiceUpdate.Bytes;
import dev.sluice.spark.ui.SluiceUpdate.Executor;
import dev.sluice.spark.ui.SluiceUpdate.Fallback;
import dev.sluice.spark.ui.SluiceUpdate.Memory;
import dev.sluice.spark.ui.SluiceUpdate.PeerFallback;
import dev.sluice.spark.ui.SluiceUpdate.Place;
import dev.sluice.spark.ui.SluiceUpdate.QueuePairs;
import dev.sluice.spark.ui.SluiceUpdate.SlowPeer;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class ExecutorStatesTest {
  private static final Map<String, Long> COUNTERS =
      Map.ofEntries(
          Map.entry("read.bytes", 100L),
          Map.entry("staged.bytes", 30L),
          Map.entry("local.bytes", 7L),
          Map.entry("fallback.bytes.PEER", 5L),
          Map.entry("fallback.blocks.PEER", 2L),
          Map.entry("fallback.bytes.CHECKSUM", 6L),
          Map.entry("fallback.blocks.CHECKSUM", 1L),
          Map.entry("registry.registered-bytes", 4_096L),
          Map.entry("transfer.queue-pairs-created", 9L),
          Map.entry("transfer.queue-pairs-closed", 4L),
          Map.entry("transfer.queue-pairs-serving", 6L));

  private long nowNanos = -5;
  private final ExecutorStates states = new ExecutorStates(() -> nowNanos);

  private static Started started(String id) {
    return new Started(
        id, "verbs", "mlx5_0", "10.0.0.1", "host:4000", "", new MemoryLimits(8_192, 2, 3));
  }

  private static PeerReads reads(int peer, long p50, long p99) {
    return new PeerReads(
        new PeerAddress(String.valueOf(peer), "host-" + peer, 4000), 10, 1_000, p50, p99);
  }

  @Test
  void anExecutorIsDescribedByItsReports() {
    states.accept(started("1"));
    states.accept(new Report("1", -5, "verbs mlx5_0", COUNTERS));
    accept("1", new ReadTimes(3, List.of(0L, 3L), List.of()));
    Executor row = states.takeChanged().getFirst();
    assertThat(row.id()).isEqualTo("1");
    assertThat(row.place()).isEqualTo(new Place("verbs", "mlx5_0", "10.0.0.1", "host:4000", ""));
    assertThat(row.bytes()).isEqualTo(new Bytes(70, 30, 7, 11));
    assertThat(row.memory()).isEqualTo(new Memory(4_096, 8_192, 0, 2, 0, 3));
    assertThat(row.queuePairs()).isEqualTo(new QueuePairs(5, 6));
    assertThat(row.reads().count()).isEqualTo(3);
    assertThat(states.takeChanged()).isEmpty();
  }

  @Test
  void fallbacksHaveTheirKeys() {
    assertThat(UpdateRecords.fallbacks(COUNTERS))
        .containsExactly(
            new Fallback("CHECKSUM", 1, 6, ""),
            new Fallback("PEER", 2, 5, "spark.shuffle.rdma.provider"));
  }

  @Test
  void anOlderReportDoesNotReplaceANewerOne() {
    states.accept(new Report("1", 7, "soft soft0", Map.of("read.bytes", 70L)));
    states.accept(new Report("1", 6, "soft soft0", Map.of("read.bytes", 60L)));
    assertThat(states.takeChanged())
        .singleElement()
        .matches(row -> row.bytes().registered() == 70)
        .matches(row -> row.place().equals(new Place("soft", "soft0", "", "", "")));
  }

  @Test
  void aLostExecutorIsTakenOnceMoreAndItsRequestsStay() {
    states.accept(started("1"));
    accept("1", new ReadTimes(3, List.of(3L), List.of()));
    assertThat(states.takeChanged()).hasSize(1);
    states.executorLost("1");
    assertThat(states.places()).isEmpty();
    assertThat(states.takeChanged()).hasSize(1);
    states.accept(new Report("1", 9, "verbs mlx5_0", COUNTERS));
    assertThat(states.takeChanged()).isEmpty();
    assertThat(states.count()).isZero();
    assertThat(states.reads().count()).isEqualTo(3);
  }

  @Test
  void theSlowestPeerHasTheLargestMedian() {
    accept("1", new ReadTimes(1, List.of(1L), List.of(reads(7, 900, 1_000))));
    accept(
        "2", new ReadTimes(1, List.of(1L), List.of(reads(7, 500, 5_000), reads(8, 100, 90_000))));
    accept("3", new ReadTimes(1, List.of(1L), List.of(reads(7, 100, 7_000))));
    assertThat(states.slowPeers())
        .extracting(SlowPeer::peer)
        .containsExactly("executor 7 at host-7", "executor 8 at host-8");
    SlowPeer slowest = states.slowPeers().getFirst();
    assertThat(slowest.readers()).isEqualTo(3);
    assertThat(slowest.reads().count()).isEqualTo(30);
    assertThat(slowest.bytes()).isEqualTo(3_000);
    assertThat(slowest.reads().p50Micros()).isEqualTo(500);
    assertThat(slowest.reads().p99Micros()).isEqualTo(7_000);
  }

  /** Most executors may have READ from it before it became slow. */
  @Test
  void onlyTheNewestReadsOfAPeerCount() {
    for (int reader = 1; reader < 5; reader++) {
      accept("" + reader, new ReadTimes(1, List.of(1L), List.of(reads(7, 1, 2), reads(8, 10, 20))));
    }
    nowNanos += ExecutorStates.MAX_AGE_NANOS;
    accept("5", new ReadTimes(1, List.of(1L), List.of(reads(7, 500, 600))));
    assertThat(states.slowPeers().getFirst().peer()).startsWith("executor 8");
    nowNanos++;
    accept("5", new ReadTimes(2, List.of(2L), List.of(reads(7, 500, 600))));
    assertThat(states.slowPeers())
        .extracting(SlowPeer::peer, SlowPeer::readers, peer -> peer.reads().p50Micros())
        .containsExactly(
            tuple("executor 7 at host-7", 1, 500L), tuple("executor 8 at host-8", 4, 10L));
  }

  private void accept(String executorId, ReadTimes times) {
    states.accept(new Details(executorId, Optional.of(times), new PeerFallbacks(0, List.of(), 0)));
  }

  private void accept(String executorId, PeerFallbacks fallbacks) {
    states.accept(new Details(executorId, Optional.empty(), fallbacks));
  }

  private static PeerFallbacks fallbacks(long peer7, long others) {
    return new PeerFallbacks(
        peer7 + 1 + others,
        List.of(
            new PeerBlocks("executor 7 at host-7", "LATE", peer7),
            new PeerBlocks("executor 8 at host-8", "CHECKSUM", 1)),
        others);
  }

  @Test
  void fallbacksByPeerAreSumsWithKeys() {
    accept("1", fallbacks(10, 0));
    accept("1", fallbacks(12, 3));
    accept("1", fallbacks(11, 0)); // older
    accept("2", fallbacks(20, 4));
    assertThat(states.peerFallbacks())
        .containsExactly(
            new PeerFallback("executor 7 at host-7", "LATE", 32, "spark.shuffle.rdma.read.hedge"),
            new PeerFallback("executor 8 at host-8", "CHECKSUM", 2, ""),
            new PeerFallback("all others", "", 7, ""));
    assertThat(states.takeChanged()).extracting(Executor::id).containsExactly("1", "2");
  }

  @Test
  void fallbacksOfALostExecutorStay() {
    accept("1", fallbacks(10, 5));
    List<PeerFallback> before = states.peerFallbacks();
    states.executorLost("1");
    assertThat(states.peerFallbacks()).isEqualTo(before).hasSize(3);
  }

  @Test
  void aReasonOfANewerVersionHasNoKey() {
    accept("1", new PeerFallbacks(4, List.of(new PeerBlocks("executor 7 at h", "HUNGRY", 4)), 0));
    assertThat(states.peerFallbacks())
        .containsExactly(new PeerFallback("executor 7 at h", "HUNGRY", 4, ""));
  }

  /** The event log gets these rows with each update. */
  @Test
  void aThousandExecutorsHaveTenRowsOfFallbacksByPeer() {
    for (int reader = 0; reader < 1_000; reader++) {
      FallbacksByPeer counted = new FallbacksByPeer();
      for (int peer = 0; peer < 1_000; peer++) {
        counted.add("executor " + peer, "PEER", peer == 500 ? 2 : 1);
      }
      accept(String.valueOf(reader), counted.largest(FallbacksByPeer.MAX_REPORTED));
    }
    List<PeerFallback> rows = states.peerFallbacks();
    assertThat(rows).hasSize(11);
    assertThat(rows.getFirst().peer()).isEqualTo("executor 500");
    assertThat(rows.getFirst().blocks()).isEqualTo(2_000);
    assertThat(rows.stream().mapToLong(PeerFallback::blocks).sum()).isEqualTo(1_001_000);
  }

  @Test
  void aPeerWithFewReadsIsLast() {
    PeerReads once =
        new PeerReads(new PeerAddress("9", "host-9", 4000), 1, 1_000, 800_000, 800_000);
    accept("1", new ReadTimes(1, List.of(1L), List.of(once, reads(7, 100, 200))));
    assertThat(states.slowPeers())
        .extracting(SlowPeer::peer)
        .containsExactly("executor 7 at host-7", "executor 9 at host-9");
  }

  @Test
  void aPeerThatIsGoneIsNotSlow() {
    accept("1", new ReadTimes(1, List.of(1L), List.of(reads(7, 900, 1_000), reads(8, 100, 200))));
    states.executorLost("7");
    assertThat(states.slowPeers())
        .extracting(SlowPeer::peer)
        .containsExactly("executor 8 at host-8");
  }

  @Test
  void theLastUpdateHasAllThatLive() {
    states.accept(started("1"));
    states.accept(started("2"));
    states.takeChanged();
    states.executorLost("1");
    assertThat(states.takeAll()).extracting(Executor::id).containsExactly("1", "2");
    assertThat(states.takeAll()).extracting(Executor::gone).containsExactly(false);
  }

  @Test
  void aNodeDaemonIsNamedByItsAddress() {
    PeerAddress node = new PeerAddress("f00-1", "host-5", 7077);
    accept("1", new ReadTimes(1, List.of(1L), List.of(new PeerReads(node, 1, 1, 1, 1))));
    assertThat(states.slowPeers())
        .extracting(SlowPeer::peer)
        .containsExactly("node daemon at host-5:7077");
  }
}
