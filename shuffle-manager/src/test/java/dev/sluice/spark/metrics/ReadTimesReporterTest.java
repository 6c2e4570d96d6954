// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.metrics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import dev.sluice.rdma.transfer.LatencyHistogram;
import dev.sluice.rdma.transfer.PeerAddress;
import dev.sluice.spark.locate.DirectoryMessage.PeerReads;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class ReadTimesReporterTest {
  private final LatencyHistogram all = new LatencyHistogram();
  private final Map<PeerAddress, LatencyHistogram> byPeer = new ConcurrentHashMap<>();
  private final ReadTimesReporter reporter = new ReadTimesReporter(all, byPeer);

  private void read(String peer, int times, long millis) {
    LatencyHistogram latency =
        byPeer.computeIfAbsent(new PeerAddress(peer, "host", 4000), _ -> new LatencyHistogram());
    for (int i = 0; i < times; i++) {
      all.record(TimeUnit.MILLISECONDS.toNanos(millis), 100);
      latency.record(TimeUnit.MILLISECONDS.toNanos(millis), 100);
    }
  }

  @Test
  void requestsAreCounted() {
    assertThat(reporter.count()).isZero();
    read("2", 5, 1);
    assertThat(reporter.count()).isEqualTo(5);
    assertThat(reporter.report().sequence()).isEqualTo(5);
    assertThat(reporter.report().slowest())
        .singleElement()
        .matches(peer -> peer.requests() == 5 && peer.bytes() == 500)
        .matches(peer -> peer.peer().id().equals("2"));
  }

  @Test
  void onlyTheTenSlowestPeersAreReported() {
    for (int peer = 0; peer < 100; peer++) {
      read(String.valueOf(peer), 1, peer);
    }
    assertThat(reporter.report().slowest()).hasSize(10).allMatch(peer -> peer.p99Micros() > 70_000);
  }

  @Test
  void aPeerWithOneLateReadIsNotAmongTheSlowest() {
    for (int peer = 0; peer < 10; peer++) {
      read(String.valueOf(peer), 10, 2);
    }
    read("once", 1, 900);
    assertThat(reporter.report().slowest())
        .hasSize(10)
        .noneMatch(peer -> peer.peer().id().equals("once"));
  }

  /** Otherwise half of all READs since the start would have to be slow. */
  @Test
  void aPeerThatBecomesSlowIsTheSlowestTwoWindowsLater() {
    read("fast", 10_000, 2);
    read("slow", 10_000, 1);
    reporter.nextWindow();
    read("fast", 10, 2);
    read("slow", 10, 500);
    reporter.nextWindow();
    assertThat(reporter.report().slowest())
        .extracting(peer -> peer.peer().id(), PeerReads::requests, PeerReads::bytes)
        .containsExactly(tuple("slow", 10L, 1_000L), tuple("fast", 10L, 1_000L));
    assertThat(reporter.report().slowest().getFirst().p50Micros()).isGreaterThan(400_000);
  }

  /** Only a probe every 30 s READs from a peer that is avoided. */
  @Test
  void probesAloneShowThatAPeerIsSlow() {
    read("slow", 10_000, 1);
    for (int minute = 0; minute < 5; minute++) {
      reporter.nextWindow();
      read("fast", 1_000, 2);
      read("slow", 2, 500);
    }
    assertThat(reporter.report().slowest())
        .first()
        .matches(peer -> peer.peer().id().equals("slow"));
    assertThat(reporter.report().slowest().getFirst().p50Micros()).isGreaterThan(400_000);
  }

  @Test
  void aPeerThatIsFastAgainIsNotTheSlowest() {
    read("2", 10_000, 500);
    reporter.nextWindow();
    read("2", 10, 1);
    reporter.nextWindow();
    assertThat(reporter.report().slowest())
        .singleElement()
        .matches(peer -> peer.p99Micros() < 2_000);
  }

  /** Between two stages, and after the last one. */
  @Test
  void aPeerWithoutReadsKeepsItsLastValues() {
    read("2", 10, 500);
    for (int minute = 0; minute < 60; minute++) {
      reporter.nextWindow();
    }
    assertThat(reporter.report().slowest())
        .singleElement()
        .matches(peer -> peer.requests() == 10 && peer.p50Micros() > 400_000);
  }

  @Test
  void aPeerThatTheEngineMeetsAgainBeginsAnew() {
    read("2", 10_000, 500);
    reporter.nextWindow();
    read("2", 10_000, 500);
    reporter.nextWindow();
    byPeer.clear();
    read("2", 5, 1);
    assertThat(reporter.report().slowest())
        .singleElement()
        .matches(peer -> peer.requests() == 5 && peer.bytes() == 500)
        .matches(peer -> peer.p99Micros() < 2_000);
  }
}
