// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.transfer;

import static dev.sluice.rdma.transfer.EngineHarness.peer;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.sluice.rdma.WorkCompletionStatus;
import dev.sluice.rdma.transfer.ReadException.Cause;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Durations on the test's clock; histograms are off by an eighth at most. */
class ReadLatenciesTest extends ReadEngineTestCase {
  private LatencySnapshot all() {
    return harness.engine.latencies().all().snapshot();
  }

  private LatencySnapshot of(String peer) {
    return harness.engine.latencies().byPeer().get(peer(peer)).snapshot();
  }

  private long bytesOf(String peer) {
    return harness.engine.latencies().byPeer().get(peer(peer)).snapshot().bytes();
  }

  private static void assertMedianMs(LatencySnapshot latency, long ms) {
    long micros = TimeUnit.MILLISECONDS.toMicros(ms);
    assertThat(latency.quantile(0.5)).isCloseTo(micros, within(micros / 8));
  }

  @Test
  void aReadTakesFromItsFirstPostToItsLastCompletion() {
    read("a", 4096, 1);
    read("b", 1);
    harness.run();
    harness.advanceMs(20);
    queuePair(1).succeedAll();
    queuePair(0).succeed(1);
    harness.run();
    assertThat(all().count()).isEqualTo(1);
    harness.advanceMs(60);
    queuePair(0).succeedAll();
    harness.run();
    assertMedianMs(of("a"), 80);
    assertMedianMs(of("b"), 20);
    assertThat(all().count()).isEqualTo(2);
    assertThat(bytesOf("a")).isEqualTo(4097);
    assertThat(bytesOf("b")).isEqualTo(1);
    assertThat(harness.engine.latencies().all().snapshot().bytes()).isEqualTo(4098);
  }

  /** Connecting is counted by itself, and its failures have a reason. */
  @Test
  void connectingDoesNotCount() {
    harness.connectAtOnce = false;
    read("a", 1);
    harness.run();
    harness.advanceMs(500);
    harness.exchanges.getFirst().complete(harness.device.address(1001));
    harness.run();
    harness.advanceMs(10);
    queuePair(0).succeedAll();
    harness.run();
    assertMedianMs(of("a"), 10);
  }

  @Test
  void theAttemptThatSucceededCounts() {
    read("a", 1);
    harness.run();
    harness.advanceMs(700);
    queuePair(0).fail(WorkCompletionStatus.RETRY_EXC_ERR);
    harness.run();
    harness.advanceMs(10);
    queuePair(1).succeedAll();
    harness.run();
    assertThat(of("a").count()).isEqualTo(1);
    assertMedianMs(of("a"), 10);
  }

  /** Without these, the latency of a peer that stands still would be the one before. */
  @Test
  void readsThatMissTheirDeadlineCountWithTheTimeTheyHad() {
    for (int i = 0; i < 8; i++) {
      readWithin(300, "a", 1);
    }
    harness.run();
    harness.advanceMs(400);
    all.getFirst().assertFailed(Cause.DEADLINE);
    assertThat(of("a").count()).isEqualTo(8);
    assertThat(bytesOf("a")).isZero();
    assertMedianMs(of("a"), 400);
  }

  @Test
  void readsThatFailOtherwiseOrHaveNoBytesDoNotCount() {
    read("a", 1);
    harness.run();
    queuePair(0).fail(WorkCompletionStatus.REM_ACCESS_ERR);
    harness.run();
    read("a", 0);
    harness.run();
    assertThat(all().count()).isZero();
  }

  @Test
  void aForgottenPeerHasNoLatency() {
    read("a", 1);
    read("b", 1);
    harness.run();
    queuePair(0).succeedAll();
    queuePair(1).succeedAll();
    harness.run();
    harness.engine.peerLost("a");
    harness.run();
    assertThat(harness.engine.latencies().byPeer()).containsOnlyKeys(peer("b"));
    harness.advanceMs(EngineHarness.OPTIONS.idleTimeoutMs() + 1_000);
    harness.advanceMs(2_000);
    assertThat(harness.engine.peers()).isZero();
    assertThat(harness.engine.latencies().byPeer()).isEmpty();
    assertThat(all().count()).isEqualTo(2);
  }
}
