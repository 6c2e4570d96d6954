// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.metrics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import dev.sluice.rdma.transfer.LatencyHistogram;
import dev.sluice.rdma.transfer.PeerAddress;
import dev.sluice.spark.locate.DirectoryMessage;
import dev.sluice.spark.locate.DirectoryMessage.Ack;
import dev.sluice.spark.locate.DirectoryMessage.PeerReads;
import dev.sluice.spark.locate.DirectoryMessage.ReadTimes;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class ReadTimesReporterTest {
  private final List<DirectoryMessage> sent = new ArrayList<>();
  private final LatencyHistogram all = new LatencyHistogram();
  private final Map<PeerAddress, LatencyHistogram> byPeer = new ConcurrentHashMap<>();
  private final ReadTimesReporter reporter = new ReadTimesReporter("1", all, byPeer, this::answer);
  private boolean driverIsGone;

  private DirectoryMessage answer(DirectoryMessage message) throws IOException {
    if (driverIsGone) {
      throw new IOException("of the test");
    }
    sent.add(message);
    return new Ack();
  }

  private void read(String peer, int times, long millis) {
    LatencyHistogram latency =
        byPeer.computeIfAbsent(new PeerAddress(peer, "host", 4000), _ -> new LatencyHistogram());
    for (int i = 0; i < times; i++) {
      all.record(TimeUnit.MILLISECONDS.toNanos(millis), 100);
      latency.record(TimeUnit.MILLISECONDS.toNanos(millis), 100);
    }
  }

  /** Returns the slowest peers of the only report. */
  private List<PeerReads> reportedSlowest() {
    reporter.report();
    assertThat(sent).singleElement().isInstanceOf(ReadTimes.class);
    return slowest();
  }

  private List<PeerReads> slowest() {
    return ((ReadTimes) sent.getFirst()).slowest();
  }

  @Test
  void onlyNewRequestsAreReported() {
    reporter.report();
    assertThat(sent).isEmpty();
    read("2", 5, 1);
    reporter.report();
    reporter.report();
    assertThat(sent)
        .singleElement()
        .isInstanceOfSatisfying(
            ReadTimes.class,
            times -> {
              assertThat(times.executorId()).isEqualTo("1");
              assertThat(times.sequence()).isEqualTo(5);
              assertThat(times.slowest())
                  .singleElement()
                  .matches(peer -> peer.requests() == 5 && peer.bytes() == 500)
                  .matches(peer -> peer.peer().id().equals("2"));
            });
  }

  @Test
  void aReportThatFailedIsSentLater() {
    read("2", 1, 1);
    driverIsGone = true;
    reporter.report();
    driverIsGone = false;
    reporter.report();
    assertThat(sent).hasSize(1);
  }

  @Test
  void onlyTheTenSlowestPeersAreReported() {
    for (int peer = 0; peer < 100; peer++) {
      read(String.valueOf(peer), 1, peer);
    }
    assertThat(reportedSlowest()).hasSize(10).allMatch(peer -> peer.p99Micros() > 70_000);
  }

  @Test
  void aPeerWithOneLateReadIsNotAmongTheSlowest() {
    for (int peer = 0; peer < 10; peer++) {
      read(String.valueOf(peer), 10, 2);
    }
    read("once", 1, 900);
    assertThat(reportedSlowest()).hasSize(10).noneMatch(peer -> peer.peer().id().equals("once"));
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
    assertThat(reportedSlowest())
        .extracting(peer -> peer.peer().id(), PeerReads::requests, PeerReads::bytes)
        .containsExactly(tuple("slow", 10L, 1_000L), tuple("fast", 10L, 1_000L));
    assertThat(slowest().getFirst().p50Micros()).isGreaterThan(400_000);
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
    assertThat(reportedSlowest()).first().matches(peer -> peer.peer().id().equals("slow"));
    assertThat(slowest().getFirst().p50Micros()).isGreaterThan(400_000);
  }

  @Test
  void aPeerThatIsFastAgainIsNotTheSlowest() {
    read("2", 10_000, 500);
    reporter.nextWindow();
    read("2", 10, 1);
    reporter.nextWindow();
    assertThat(reportedSlowest()).singleElement().matches(peer -> peer.p99Micros() < 2_000);
  }

  /** Between two stages, and after the last one. */
  @Test
  void aPeerWithoutReadsKeepsItsLastValues() {
    read("2", 10, 500);
    for (int minute = 0; minute < 60; minute++) {
      reporter.nextWindow();
    }
    assertThat(reportedSlowest())
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
    assertThat(reportedSlowest())
        .singleElement()
        .matches(peer -> peer.requests() == 5 && peer.bytes() == 500)
        .matches(peer -> peer.p99Micros() < 2_000);
  }
}
