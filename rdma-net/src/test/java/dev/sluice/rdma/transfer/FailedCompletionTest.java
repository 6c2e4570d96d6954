// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.transfer;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.rdma.SendWorkRequest;
import dev.sluice.rdma.WorkCompletionStatus;
import dev.sluice.rdma.transfer.EngineHarness.TestRead;
import dev.sluice.rdma.transfer.ReadException.Cause;
import dev.sluice.verbs.VerbsException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Reaction of the engine to completions of each scope, and to a failed device. */
class FailedCompletionTest extends ReadEngineTestCase {
  private static final VerbsException DEVICE_FAILED =
      new VerbsException("poll", VerbsException.EIO, "scripted");

  @Test
  void aStaleLocationFailsAloneAndIsNotHeldAgainstThePeer() {
    use(EngineHarness.OPTIONS, 64);
    for (int round = 0; round < 5; round++) { // more than the breaker allows
      TestRead before = read("a", 1);
      TestRead stale = read("a", 1);
      TestRead behind = read("a", 1);
      harness.run();
      ScriptedQueuePair broken = harness.device.last();
      broken.succeed(1);
      broken.fail(WorkCompletionStatus.REM_ACCESS_ERR);
      harness.run();
      before.assertSucceeded();
      stale.assertFailed(Cause.STALE_LOCATION);
      behind.assertUnanswered();
      assertThat(broken.isClosed()).isTrue();
      harness.device.last().succeedAll();
      harness.run();
      behind.assertSucceeded();
    }
    assertThat(harness.count(TransferCounter.CIRCUIT_OPENINGS)).isZero();
    assertThat(harness.count(TransferCounter.READ_RETRIES)).isZero();
  }

  @ParameterizedTest
  @EnumSource(names = {"LOC_PROT_ERR", "LOC_ACCESS_ERR", "REM_INV_REQ_ERR"})
  void aRequestThatIsWrongInItselfFailsAloneAndIsNotRetried(WorkCompletionStatus status) {
    for (int round = 0; round < 5; round++) { // more than the breaker allows
      TestRead wrong = read("a", 1);
      TestRead behind = read("a", 1);
      harness.run();
      harness.device.last().fail(status);
      harness.run();
      wrong.assertFailed(Cause.TRANSPORT);
      behind.assertUnanswered();
      harness.device.last().succeedAll();
      harness.run();
      behind.assertSucceeded();
    }
    assertThat(harness.count(TransferCounter.CIRCUIT_OPENINGS)).isZero();
    assertThat(harness.count(TransferCounter.READ_RETRIES)).isZero();
  }

  @ParameterizedTest
  @EnumSource(names = {"LOC_PROT_ERR", "LOC_ACCESS_ERR", "REM_INV_REQ_ERR"})
  void requestsThatAreWrongInARowOpenTheBreakerSoThatNotEachCostsAQueuePair(
      WorkCompletionStatus status) {
    for (int failures = 0; failures < 3; failures++) {
      TestRead wrong = read("a", 1);
      harness.run();
      harness.device.last().fail(status);
      harness.run();
      wrong.assertFailed(Cause.TRANSPORT);
    }
    assertThat(harness.count(TransferCounter.CIRCUIT_OPENINGS)).isEqualTo(1);
    assertThat(harness.count(TransferCounter.READ_RETRIES)).isZero();

    TestRead next = read("a", 1);
    harness.run();
    next.assertFailed(Cause.CIRCUIT_OPEN);
    assertThat(harness.device.queuePairs).hasSize(3);
  }

  @Test
  void aProbeThatFailsByAFaultOfThisSideIsFollowedByAnother() {
    failTransport("a");
    failTransport("a");
    harness.advanceMs(5_100);
    TestRead probe = read("a", 1);
    harness.run();
    harness.device.last().fail(WorkCompletionStatus.LOC_PROT_ERR);
    harness.run();
    probe.assertFailed(Cause.TRANSPORT);
    harness.advanceMs(5_100);
    TestRead nextProbe = read("a", 1);
    harness.run();
    harness.device.last().succeedAll();
    harness.run();
    nextProbe.assertSucceeded();
  }

  @Test
  void aFailedWorkRequestCostsTheInnocentsNoAttempt() {
    List<TestRead> innocents = new ArrayList<>();
    innocents.add(read("a", 4096 * 2));
    TestRead guilty = read("a", 4096 * 2);
    innocents.add(read("a", 1));
    innocents.add(read("a", 1));
    innocents.add(read("a", 4096 * 4)); // two of these are posted
    harness.run();
    assertThat(queuePair(0).outstanding).hasSize(8);
    queuePair(0).succeed(3);
    queuePair(0).fail(WorkCompletionStatus.RETRY_EXC_ERR);
    harness.run();
    innocents.removeFirst().assertSucceeded();
    assertThat(harness.device.queuePairs).hasSize(2);

    // The guilty read has one more attempt, the innocent ones have any number.
    while (!isOf(guilty, queuePair(1).outstanding.peek())) {
      queuePair(1).succeed(1);
    }
    queuePair(1).fail(WorkCompletionStatus.RETRY_EXC_ERR);
    harness.run();
    guilty.assertFailed(Cause.TRANSPORT);
    while (harness.device.outstanding() > 0) {
      harness.device.last().succeedAll();
      harness.run();
    }
    innocents.forEach(TestRead::assertSucceeded);
    assertThat(harness.count(TransferCounter.READ_RETRIES)).isEqualTo(1);
    assertThat(harness.count(TransferCounter.QUEUE_PAIRS_FAILED)).isEqualTo(2);
  }

  private static boolean isOf(TestRead read, SendWorkRequest workRequest) {
    long start = read.request.target().segment().address();
    long at = workRequest.local().address();
    return at >= start && at < start + read.request.bytes();
  }

  @Test
  void aReadThatFailedOnceSucceedsOnAFreshQueuePair() {
    TestRead read = read("a", 4096 * 3);
    harness.run();
    queuePair(0).succeed(1);
    queuePair(0).fail(WorkCompletionStatus.REM_OP_ERR);
    harness.run();
    read.assertUnanswered();
    assertThat(queuePair(1).outstanding).as("READs from the first byte").hasSize(3);
    queuePair(1).succeedAll();
    harness.run();
    read.assertSucceeded();
  }

  /** As if the queue pair moved to ERROR under the READs of several tasks. */
  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 16, 64, 127, 128})
  void aFlushedQueuePairFailsNoRead(int underWay) {
    TransferOptions options = EngineHarness.OPTIONS.with(o -> o.sendQueueDepth = 128);
    use(options, 512);
    List<TestRead> reads = new ArrayList<>();
    for (int i = 0; i < underWay; i++) {
      reads.add(read("a", 1));
    }
    harness.run();
    queuePair(0).succeed(underWay / 3);
    queuePair(0).flush();
    harness.run();
    queuePair(1).succeedAll();
    harness.run();
    reads.forEach(TestRead::assertSucceeded);
    assertThat(harness.count(TransferCounter.READ_REPOSTS)).isEqualTo(underWay - underWay / 3);
    assertThat(harness.device.queuePairs).hasSize(2);
  }

  @Test
  void aQueuePairThatIsFlushedWithoutACauseIsReplaced() {
    TestRead read = read("a", 1);
    harness.run();
    queuePair(0).flush();
    harness.run();
    queuePair(1).succeedAll();
    harness.run();
    read.assertSucceeded();
    assertThat(harness.count(TransferCounter.READ_REPOSTS)).isEqualTo(1);
  }

  @Test
  void aDeviceThatFailsAnswersEverythingFromThenOn() {
    TestRead posted = read("a", 1);
    harness.run();
    harness.device.pollFailure = DEVICE_FAILED;
    harness.run();
    posted.assertFailed(Cause.TRANSPORT);
    TestRead next = read("a", 1);
    harness.run();
    next.assertFailed(Cause.TRANSPORT);
  }

  @Test
  void aDeviceThatFailsFailsTheReadsOfAllPeers() {
    TestRead posted = read("a", 1);
    TestRead behind = read("a", 30 * 4096);
    TestRead ofAnotherPeer = read("b", 1);
    harness.run();
    harness.connectAtOnce = false;
    TestRead connecting = read("c", 1);
    harness.run();

    harness.device.pollFailure = DEVICE_FAILED;
    harness.run();
    for (TestRead read : List.of(posted, behind, ofAnotherPeer, connecting)) {
      read.assertFailed(Cause.TRANSPORT);
    }
    harness.exchanges.getLast().complete(harness.device.address(9));
    TestRead next = read("d", 1);
    harness.run();
    next.assertFailed(Cause.TRANSPORT);
    harness.advanceMs(100);
    assertThat(harness.device.queuePairs)
        .as("no queue pair is created on a device that failed")
        .hasSize(3)
        .allMatch(ScriptedQueuePair::isClosed);
    assertThat(harness.count(TransferCounter.CIRCUIT_OPENINGS)).isZero();
    harness.released.removeLast(); // The peer that was told too early is told again.
  }

  @Test
  void aFailedDeviceCreatesNoQueuePairForWaitingReads() {
    use(EngineHarness.OPTIONS.with(o -> o.maxQueuePairs = 1), 64);
    TestRead posted = read("a", 1);
    TestRead waiting = read("b", 1);
    harness.run();

    harness.device.pollFailure = DEVICE_FAILED;
    harness.run();
    posted.assertFailed(Cause.TRANSPORT);
    waiting.assertFailed(Cause.TRANSPORT);
    assertThat(harness.device.queuePairs).hasSize(1);
  }

  /** Drivers report this for a failed queue pair of a working device. */
  @Test
  void aFatalErrorBreaksItsQueuePairOnly() {
    TestRead fatal = read("a", 1);
    TestRead ofAnotherPeer = read("b", 1);
    harness.run();
    queuePair(0).fail(WorkCompletionStatus.FATAL_ERR);
    harness.run();
    queuePair(1).succeedAll();
    queuePair(2).succeedAll();
    harness.run();
    fatal.assertSucceeded();
    ofAnotherPeer.assertSucceeded();
    assertThat(harness.count(TransferCounter.READ_RETRIES)).isEqualTo(1);
  }

  @Test
  void anErrorThatTheDeviceCannotNameBreaksItsQueuePairOnly() {
    TestRead read = read("a", 1);
    harness.run();
    queuePair(0).fail(WorkCompletionStatus.of(4711));
    harness.run();
    queuePair(1).succeedAll();
    harness.run();
    read.assertSucceeded();
  }
}
