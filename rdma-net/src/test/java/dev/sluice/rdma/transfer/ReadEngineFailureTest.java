// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.transfer;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.rdma.WorkCompletionStatus;
import dev.sluice.rdma.transfer.EngineHarness.TestRead;
import dev.sluice.rdma.transfer.ReadException.Cause;
import dev.sluice.verbs.VerbsException;
import org.junit.jupiter.api.Test;

/** Reaction of the engine to failures without a completion, and to peers that keep failing. */
class ReadEngineFailureTest extends ReadEngineTestCase {
  @Test
  void aRefusedPostFailsItsReadAfterOneRetryAndSparesTheOthers() {
    TestRead first = read("a", 1);
    TestRead refused = read("a", 1);
    TestRead last = read("a", 1);
    harness.connectAtOnce = false;
    harness.engine.doWork();
    queuePair(0).refuseAt = 1;
    harness.exchanges.getFirst().complete(harness.device.address(1));
    harness.connectAtOnce = true;
    harness.run();
    assertThat(queuePair(0).isClosed()).isTrue();
    queuePair(1).succeedAll();
    harness.run();
    first.assertSucceeded();
    refused.assertSucceeded();
    last.assertSucceeded();
    assertThat(harness.count(TransferCounter.READ_RETRIES)).isEqualTo(1);
    assertThat(harness.count(TransferCounter.READ_REPOSTS)).isEqualTo(2);
  }

  @Test
  void aDeadlineAnswersAtOnceButKeepsTheBufferUntilTheFlush() {
    harness.device.flushes = false;
    TestRead late = readWithin(100, "a", 1);
    TestRead innocent = read("a", 1);
    harness.run();
    harness.advanceMs(200);
    late.assertFailed(Cause.DEADLINE);
    innocent.assertUnanswered();
    assertThat(harness.buffers.bytesInUse()).isEqualTo(2 * 4096);
    queuePair(0).flush();
    harness.run();
    assertThat(harness.buffers.bytesInUse()).isEqualTo(4096);
    queuePair(1).succeedAll();
    harness.run();
    innocent.assertSucceeded();
  }

  @Test
  void aQueuePairThatDoesNotFlushCostsItsBuffersForGood() {
    harness.device.flushes = false;
    TestRead late = readWithin(100, "a", 1);
    TestRead innocent = read("a", 1);
    harness.run();
    harness.advanceMs(200);
    harness.advanceMs(10_000);
    late.assertFailed(Cause.DEADLINE);
    innocent.assertFailed(Cause.TRANSPORT);
    assertThat(harness.count(TransferCounter.BUFFERS_GIVEN_UP)).isEqualTo(2);
    assertThat(harness.buffers.bytesInUse()).isEqualTo(2 * 4096);
    TestRead next = read("a", 1);
    harness.run();
    harness.device.last().succeedAll();
    harness.run();
    next.assertSucceeded();
  }

  @Test
  void readsFlushedWhileTheProcessWasStoppedAreNotGivenUp() {
    TransferOptions sixteenPeers = EngineHarness.OPTIONS.with(o -> o.maxQueuePairs = 16);
    use(sixteenPeers, 1_024);
    harness.device.flushes = false;
    for (int i = 0; i < 100; i++) {
      readWithin(100, "a" + i % 10, 1);
    }
    harness.run();
    assertThat(harness.device.outstanding()).as("more than are polled at once").isGreaterThan(64);
    harness.advanceMs(200);
    harness.device.queuePairs.forEach(ScriptedQueuePair::flush);
    harness.advanceMs(10_000);
    assertThat(harness.count(TransferCounter.BUFFERS_GIVEN_UP)).isZero();
  }

  @Test
  void aDeadlineBeforePostingBreaksNothing() {
    harness.connectAtOnce = false;
    TestRead late = readWithin(100, "a", 1);
    TestRead other = read("a", 1);
    harness.run();
    harness.advanceMs(200);
    late.assertFailed(Cause.DEADLINE);
    harness.exchanges.getFirst().complete(harness.device.address(1));
    harness.run();
    queuePair(0).succeedAll();
    harness.run();
    other.assertSucceeded();
    assertThat(harness.device.queuePairs).hasSize(1);
  }

  @Test
  void aConnectFailureIsTriedOnceMoreAndOtherPeersDoNotWait() {
    harness.connectAtOnce = false;
    TestRead bad = read("bad", 1);
    TestRead alsoBad = read("bad", 1);
    TestRead good = read("good", 1);
    harness.run();
    harness.exchanges.get(1).complete(harness.device.address(1));
    harness.run();
    queuePair(1).succeedAll();
    harness.run();
    good.assertSucceeded();
    harness.exchanges.get(0).completeExceptionally(new VerbsException("accept", 12, "scripted"));
    harness.run();
    bad.assertUnanswered();
    harness.exchanges.get(2).completeExceptionally(new VerbsException("accept", 12, "scripted"));
    harness.run();
    bad.assertFailed(Cause.CONNECT);
    alsoBad.assertFailed(Cause.CONNECT);
    assertThat(harness.count(TransferCounter.CONNECT_FAILURES)).isEqualTo(2);
  }

  @Test
  void aReadTriesAgainAfterAConnectionThatWasMadeBeforeItFailed() {
    harness.connectAtOnce = false;
    harness.engine.connect(EngineHarness.peer("a"));
    harness.run();
    harness
        .exchanges
        .getFirst()
        .completeExceptionally(new VerbsException("accept", 12, "scripted"));
    harness.run();
    assertThat(harness.count(TransferCounter.CONNECT_FAILURES)).isEqualTo(1);
    TestRead read = read("a", 1);
    harness.run();
    harness.exchanges.getLast().complete(harness.device.address(1));
    harness.run();
    harness.device.last().succeedAll();
    harness.run();
    read.assertSucceeded();
  }

  @Test
  void aConnectionThatTakesTooLongFailsAndALateAnswerIsReleased() {
    harness.connectAtOnce = false;
    TestRead read = read("a", 1);
    harness.run();
    harness.advanceMs(1_100);
    harness.advanceMs(1_100);
    read.assertFailed(Cause.CONNECT);
    assertThat(harness.released).containsExactly(1, 2);
    harness.exchanges.getFirst().complete(harness.device.address(1));
    harness.run();
    assertThat(harness.released).as("the peer made its side late").containsExactly(1, 2, 1);
    harness.released.removeLast(); // The common check counts one release per queue pair.
  }

  @Test
  void theBreakerOpensFailsFastAndLetsOneProbeThrough() {
    failTransport("a");
    TestRead second = read("a", 1);
    harness.run();
    harness.device.last().fail(WorkCompletionStatus.RETRY_EXC_ERR);
    harness.run();
    second.assertFailed(Cause.TRANSPORT);
    assertThat(harness.count(TransferCounter.CIRCUIT_OPENINGS)).isEqualTo(1);

    TestRead refused = read("a", 1);
    TestRead other = read("b", 1);
    harness.run();
    refused.assertFailed(Cause.CIRCUIT_OPEN);
    harness.device.last().succeedAll();
    harness.run();
    other.assertSucceeded();

    harness.advanceMs(5_100);
    TestRead probe = read("a", 1);
    TestRead besideTheProbe = read("a", 1);
    harness.run();
    besideTheProbe.assertFailed(Cause.CIRCUIT_OPEN);
    harness.device.last().succeedAll();
    harness.run();
    probe.assertSucceeded();
    TestRead after = read("a", 1);
    harness.run();
    harness.device.last().succeedAll();
    harness.run();
    after.assertSucceeded();
  }

  @Test
  void aProbeThatEndsWithoutAnAnswerOpensTheBreakerAgain() {
    failTransport("a");
    failTransport("a");
    harness.advanceMs(5_100);
    harness.connectAtOnce = false;
    TestRead probe = readWithin(100, "a", 1);
    harness.run();
    harness.advanceMs(200);
    probe.assertFailed(Cause.DEADLINE);
    harness.advanceMs(5_100);
    harness.connectAtOnce = true;
    TestRead nextProbe = read("a", 1);
    harness.run();
    harness.exchanges.getLast().complete(harness.device.address(9));
    harness.run();
    harness.device.last().succeedAll();
    harness.run();
    nextProbe.assertSucceeded();
  }

  @Test
  void aQueuePairThatFlushesAgainAndAgainEndsInAnOpenBreaker() {
    TestRead read = read("a", 1);
    harness.run();
    for (int attempt = 0; attempt < 3; attempt++) {
      harness.device.last().flush();
      harness.run();
    }
    read.assertFailed(Cause.CIRCUIT_OPEN);
  }

  @Test
  void aDeviceWithoutQueuePairsFailsItsReadsOnly() {
    harness.device.maxQueuePairs = 1;
    TestRead first = read("a", 1);
    TestRead refused = read("b", 1);
    harness.run();
    refused.assertFailed(Cause.CONNECT);
    queuePair(0).succeedAll();
    harness.run();
    first.assertSucceeded();
  }

  @Test
  void aLostPeerFailsAllItsReadsAtOnce() {
    harness.connectAtOnce = false;
    TestRead connecting = read("b", 1);
    harness.run();
    harness.connectAtOnce = true;
    TestRead posted = read("a", 30 * 4096);
    TestRead other = read("c", 1);
    harness.run();
    harness.engine.peerLost("a");
    harness.engine.peerLost("b");
    harness.engine.peerLost("unknown");
    harness.run();
    connecting.assertFailed(Cause.TRANSPORT);
    posted.assertFailed(Cause.TRANSPORT);
    harness.device.last().succeedAll();
    harness.run();
    other.assertSucceeded();
    TestRead again = read("a", 1);
    harness.run();
    harness.device.last().succeedAll();
    harness.run();
    again.assertSucceeded();
  }

  @Test
  void peersThatFailedAndAreWantedNoMoreAreForgotten() {
    for (int id = 0; id < 10; id++) {
      failTransport("gone-" + id);
      harness.engine.peerLost("gone-" + id);
      failTransport("gone-" + id);
    }
    assertThat(harness.engine.peers()).isEqualTo(10);

    harness.advanceMs(60_000);

    assertThat(harness.engine.peers()).isZero();
  }

  /** Its READs may still be answered, and the answers may be written. */
  @Test
  void memoryOfAQueuePairThatIsNotDestroyedIsNotUsedAgain() {
    read("a", 10);
    harness.run();
    queuePair(0).undead = true;
    TestRead further = read("a", 10);
    queuePair(0).refuseAt = 0;
    harness.run();

    further.assertFailed(Cause.TRANSPORT);
    assertThat(harness.count(TransferCounter.BUFFERS_GIVEN_UP)).isEqualTo(2);
    assertThat(harness.buffers.bytesInUse()).isPositive();
  }
}
