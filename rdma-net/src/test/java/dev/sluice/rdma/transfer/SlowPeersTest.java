// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.transfer;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.rdma.log.LogCapture;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.logging.log4j.Level;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Peers with latencies that the test records, on the test's clock. */
class SlowPeersTest {
  private static final long FAST_MS = 3;
  private static final long SLOW_MS = 200;

  private final Counters<TransferCounter> counters = new Counters<>(TransferCounter.class);
  private final LogCapture log = new LogCapture(SlowPeers.class, Level.WARN);
  private final List<Peer> peers = new ArrayList<>();
  private long now = Long.MAX_VALUE - SlowPeers.WINDOW_NANOS;
  private final SlowPeers slowPeers = new SlowPeers(counters, now);

  @AfterEach
  void everyLineIsCounted() {
    log.close();
    assertThat(counters.get(TransferCounter.SLOW_PEERS)).isEqualTo(log.messages().size());
  }

  private Peer peer(String id) {
    Peer peer =
        new Peer(EngineHarness.peer(id), new CircuitBreaker(3, 1_000), new LatencyHistogram());
    peers.add(peer);
    return peer;
  }

  private static void read(Peer peer, int times, long ms) {
    for (int i = 0; i < times; i++) {
      peer.latency().record(TimeUnit.MILLISECONDS.toNanos(ms), 1);
    }
  }

  /** Goes on to the next check. */
  private void check() {
    now += SlowPeers.CHECK_NANOS;
    slowPeers.check(peers, now);
  }

  private void fastPeers(int count, int reads) {
    for (int i = 0; i < count; i++) {
      read(peer("fast-" + i), reads, FAST_MS);
    }
  }

  @Test
  void aSlowPeerOfSeveralIsNamedWithItsLatencyAndThatOfTheOthers() {
    fastPeers(15, 40);
    read(peer("7"), 30, SLOW_MS);
    check();
    assertThat(log.messages())
        .singleElement()
        .asString()
        .contains("SLOW_PEER 7 at host-7:1: ")
        .contains("the median of its 30 READs in 10 s is ")
        .containsPattern("is 2\\d\\d\\.\\d ms, that of 15 other peers [23]\\.\\d ms");
  }

  /** The median decides, not a few stragglers. */
  @Test
  void aPeerWithSomeLateReadsIsNotSlow() {
    fastPeers(15, 40);
    Peer peer = peer("7");
    read(peer, 60, FAST_MS);
    read(peer, 40, 100 * SLOW_MS);
    check();
    assertThat(log.messages()).isEmpty();
  }

  @Test
  void ofTwoSlowPeersTheSlowerOneIsNamed() {
    fastPeers(4, 40);
    read(peer("7"), 40, SLOW_MS);
    read(peer("8"), 40, 2 * SLOW_MS);
    check();
    assertThat(log.messages()).singleElement().asString().contains("SLOW_PEER 8 at");
  }

  @Test
  void nothingIsSaidIfAllPeersAreSlow() {
    for (int i = 0; i < 16; i++) {
      read(peer("" + i), 40, (3 + i % 2) * SLOW_MS);
    }
    check();
    assertThat(log.messages()).isEmpty();
  }

  @Test
  void nothingIsSaidOfTheOnlyPeer() {
    read(peer("7"), 1_000, SLOW_MS);
    check();
    assertThat(log.messages()).isEmpty();
  }

  @Test
  void ofTwoPeersOneMayBeSlow() {
    fastPeers(1, 40);
    read(peer("7"), 40, SLOW_MS);
    check();
    assertThat(log.messages()).hasSize(1);
  }

  @Test
  void aFewReadsAreNoReason() {
    fastPeers(15, 40);
    read(peer("7"), SlowPeers.MIN_READS - 1, SLOW_MS);
    check();
    assertThat(log.messages()).isEmpty();
    read(peers.getLast(), 1, SLOW_MS);
    check();
    assertThat(log.messages()).hasSize(1);
  }

  @Test
  void aPeerWithoutReadsIsNoPeerToCompareWith() {
    fastPeers(5, SlowPeers.MIN_READS - 1);
    read(peer("7"), 40, SLOW_MS);
    check();
    assertThat(log.messages()).isEmpty();
  }

  @Test
  void aPeerMayTakeManyTimesLongerIfThatIsStillShort() {
    fastPeers(15, 40);
    read(peer("7"), 40, 10 * FAST_MS);
    check();
    assertThat(log.messages()).isEmpty();
  }

  @Test
  void oneLineAMinuteIsLogged() {
    long start = now;
    Peer fast = peer("fast");
    Peer slow = peer("7");
    while (now - start < 3 * SlowPeers.WINDOW_NANOS) {
      read(fast, 20, FAST_MS);
      read(slow, 20, SLOW_MS);
      check();
    }
    assertThat(log.messages()).hasSize(3);
  }

  @Test
  void nothingIsDoneBetweenChecks() {
    fastPeers(15, 40);
    read(peer("7"), 30, SLOW_MS);
    slowPeers.check(peers, now + SlowPeers.CHECK_NANOS - 1);
    assertThat(log.messages()).isEmpty();
  }

  /** A stage of an hour ago says nothing about the peer now. */
  @Test
  void onlyTheLastMinuteCounts() {
    fastPeers(15, 1_000);
    Peer peer = peer("7");
    read(peer, 1_000, FAST_MS);
    for (int checks = 0; checks < 6; checks++) {
      check();
    }
    peers.forEach(fast -> read(fast, 20, fast == peer ? SLOW_MS : FAST_MS));
    check();
    assertThat(log.messages()).hasSize(1);
    for (int checks = 0; checks < 6; checks++) {
      check();
    }
    peers.forEach(fast -> read(fast, 20, FAST_MS));
    check();
    assertThat(log.messages()).hasSize(1);
  }

  @Test
  void theReadEngineChecksItsPeers() {
    EngineHarness harness = new EngineHarness();
    for (int round = 0; round < SlowPeers.MIN_READS; round++) {
      harness.read("fast", 1);
      harness.read("7", 1);
      harness.run();
      harness.device.queuePairs.get(0).succeedAll();
      harness.run();
      harness.advanceMs(SLOW_MS);
      harness.device.queuePairs.get(1).succeedAll();
      harness.run();
    }
    harness.advanceMs(TimeUnit.NANOSECONDS.toMillis(SlowPeers.CHECK_NANOS));
    assertThat(log.messages()).singleElement().asString().contains("SLOW_PEER 7 at host-7:1");
    counters.add(TransferCounter.SLOW_PEERS, harness.counters.get(TransferCounter.SLOW_PEERS));
    harness.engine.close();
    harness.buffers.close();
  }
}
