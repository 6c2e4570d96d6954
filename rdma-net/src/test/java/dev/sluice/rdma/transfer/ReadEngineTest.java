// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.transfer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sluice.rdma.RemoteRegion;
import dev.sluice.rdma.SendWorkRequest;
import dev.sluice.rdma.WorkCompletionStatus;
import dev.sluice.rdma.transfer.EngineHarness.TestRead;
import dev.sluice.rdma.transfer.ReadException.Cause;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class ReadEngineTest extends ReadEngineTestCase {
  @Test
  void connectsOnDemandAndAnswersWhenTheReadIsDone() {
    TestRead read = read("a", 100);
    harness.run();
    assertThat(harness.device.queuePairs).hasSize(1);
    assertThat(queuePair(0).access).as("a pure initiator").isEmpty();
    read.assertUnanswered();
    queuePair(0).succeedAll();
    harness.run();
    read.assertSucceeded();
    assertThat(harness.count(TransferCounter.READ_BYTES)).isEqualTo(100);
    assertThat(harness.buffers.bytesInUse()).isZero();
  }

  @Test
  void connectsToAPeerBeforeItsFirstRead() {
    harness.engine.connect(EngineHarness.peer("a"));
    harness.engine.connect(EngineHarness.peer("a"));
    harness.run();
    assertThat(harness.device.queuePairs).hasSize(1);
    TestRead read = read("a", 100);
    harness.run();
    assertThat(harness.device.queuePairs).as("the READ uses it").hasSize(1);
    queuePair(0).succeedAll();
    harness.run();
    read.assertSucceeded();
    harness.engine.connect(EngineHarness.peer("a"));
    harness.run();
    assertThat(harness.exchanges).hasSize(1);
  }

  /** Each submission has everything a new one has, including its one retry. */
  @Test
  void successfulRequestsMayBeSubmittedAgain() {
    TestRead read = read("a", 100, 5000);
    PooledBuffer target = read.request.target().retain();
    for (int round = 1; round <= 3; round++) {
      harness.run();
      harness.device.last().fail(WorkCompletionStatus.RETRY_EXC_ERR);
      harness.run();
      read.assertUnanswered();
      harness.device.last().succeedAll();
      harness.run();
      read.assertSucceeded();
      if (round < 3) {
        read.again();
      }
    }
    target.release();
    assertThat(harness.count(TransferCounter.READ_BYTES)).isEqualTo(3 * 5100);
  }

  @Test
  void pendingOrFailedRequestsMayNotBeSubmittedAgain() {
    TestRead read = readWithin(100, "a", 100);
    PooledBuffer target = read.request.target().retain();
    assertThatThrownBy(() -> harness.engine.submit(read.request))
        .isInstanceOf(IllegalStateException.class);
    harness.run();
    harness.advanceMs(200);
    read.assertFailed(Cause.DEADLINE);
    assertThatThrownBy(() -> harness.engine.submit(read.request))
        .isInstanceOf(IllegalStateException.class);
    target.release();
  }

  @Test
  void rangesAreSplitAndLaidBackToBack() {
    TestRead read = read("a", 5000, 0, 4096, 1);
    long target = read.request.target().segment().address();
    harness.run();
    List<SendWorkRequest> chain = queuePair(0).chains.getFirst();
    assertThat(chain).extracting(wr -> wr.local().length()).containsExactly(4096, 904, 4096, 1);
    assertThat(chain)
        .extracting(SendWorkRequest::remoteAddress)
        .containsExactly(0x10_0000L, 0x10_1000L, 0x30_0000L, 0x40_0000L);
    assertThat(chain)
        .extracting(wr -> wr.local().address() - target)
        .containsExactly(0L, 4096L, 5000L, 9096L);
    queuePair(0).succeedAll();
    harness.run();
    read.assertSucceeded();
  }

  @Test
  void readsOfAPeerArePostedInOneChainAndSignaledOnceEach() {
    read("a", 100, 100, 100);
    read("a", 5000);
    harness.run();
    assertThat(queuePair(0).chains).hasSize(1);
    assertThat(queuePair(0).chains.getFirst())
        .extracting(SendWorkRequest::signaled)
        .containsExactly(false, false, true, false, true);
    queuePair(0).succeedAll();
    harness.run();
    all.forEach(TestRead::assertSucceeded);
  }

  @Test
  void aReadOfMoreWorkRequestsThanTheSendQueueHoldsIsPostedInParts() {
    TestRead large = read("a", 30 * 4096);
    TestRead small = read("a", 1);
    for (int rounds = 0; rounds < 20 && large.answers.isEmpty(); rounds++) {
      harness.run();
      queuePair(0).succeed(Math.min(3, queuePair(0).outstanding.size()));
    }
    large.assertSucceeded();
    small.assertSucceeded();
    assertThat(harness.device.queuePairs).hasSize(1);
  }

  /** 4 MiB of the 32 MiB to READ are posted. A new small read waits for no more than these. */
  @Test
  void smallReadsDoNotWaitForAllThatIsLarge() {
    int mebibyte = 1 << 20;
    use(
        EngineHarness.OPTIONS.with(
            o -> {
              o.bufferPoolBytes = 64 << 20;
              o.sendQueueDepth = 256;
              o.maxReadBytes = mebibyte;
            }),
        512);
    List<TestRead> large = IntStream.range(0, 32).mapToObj(_ -> read("a", mebibyte)).toList();
    harness.run();
    assertThat(queuePair(0).outstanding).hasSize(4);

    TestRead table = read("a", 1040);
    harness.run();
    assertThat(queuePair(0).outstanding).hasSize(5);
    queuePair(0).succeed(4);
    harness.run();
    queuePair(0).succeed(1);
    harness.run();
    table.assertSucceeded();
    assertThat(large.stream().filter(read -> read.answers.isEmpty())).hasSize(28);

    while (!queuePair(0).outstanding.isEmpty()) {
      assertThat(queuePair(0).outstanding).hasSizeLessThanOrEqualTo(4);
      queuePair(0).succeed(1);
      harness.run();
    }
    all.forEach(TestRead::assertSucceeded);
  }

  /** For any number of small reads. */
  @Test
  void largeReadsGoOnWhileSmallOnesArrive() {
    TestRead large = read("a", 20 * 4096);
    for (int i = 0; i < 100; i++) {
      read("a", 1);
    }
    harness.run();
    assertThat(queuePair(0).chains.getFirst())
        .extracting(wr -> wr.local().length())
        .containsExactly(1, 1, 1, 1, 1, 1, 1, 4096);
    for (int rounds = 0; rounds < 15; rounds++) {
      queuePair(0).succeedAll();
      harness.run();
    }
    assertThat(all.stream().filter(read -> read != large)).allMatch(r -> !r.answers.isEmpty());
    while (!queuePair(0).outstanding.isEmpty()) {
      queuePair(0).succeedAll();
      harness.run();
    }
    large.assertSucceeded();
  }

  @Test
  void aSmallReadComesInTheMiddleOfALargeOne() {
    TestRead large = read("a", 20 * 4096);
    harness.run();
    TestRead small = read("a", 1);
    queuePair(0).succeed(4);
    harness.run();
    queuePair(0).succeedAll();
    harness.run();
    small.assertSucceeded();
    large.assertUnanswered();
    queuePair(0).fail(WorkCompletionStatus.RETRY_EXC_ERR);
    harness.run();
    while (large.answers.isEmpty()) {
      harness.device.last().succeedAll();
      harness.run();
    }
    large.assertSucceeded();
  }

  @Test
  void aLongReadIsPostedOnWhileHalfOfTheSendQueueIsUnderWay() {
    TestRead large = read("a", 16 * 4096);
    harness.run();
    assertThat(queuePair(0).chains.getFirst())
        .extracting(SendWorkRequest::signaled)
        .containsExactly(false, false, false, true, false, false, false, true);
    queuePair(0).succeed(4);
    harness.run();
    assertThat(queuePair(0).outstanding).hasSize(8);
    queuePair(0).succeedAll();
    harness.run();
    queuePair(0).succeedAll();
    harness.run();
    large.assertSucceeded();
  }

  @Test
  void theCompletionQueueIsNeverOverrunAndEveryPeerGetsItsTurn() {
    use(EngineHarness.OPTIONS, 4); // the scripted queue pairs assert the bound
    for (int i = 0; i < 10; i++) {
      read("a", 4096 * 3);
      read("b", 4096 * 3);
    }
    for (int rounds = 0; rounds < 200; rounds++) {
      harness.run();
      harness.device.queuePairs.forEach(qp -> qp.succeed(Math.min(1, qp.outstanding.size())));
    }
    all.forEach(TestRead::assertSucceeded);
  }

  @Test
  void anEmptyReadSucceedsWithoutAQueuePair() {
    TestRead read = read("a", 0);
    harness.run();
    read.assertSucceeded();
    assertThat(harness.device.queuePairs).isEmpty();
  }

  @Test
  void anIdleQueuePairIsClosedAfterItsTimeAndThePeerIsTold() {
    read("a", 1);
    harness.run();
    queuePair(0).succeedAll();
    harness.run();
    harness.advanceMs(59_000);
    assertThat(queuePair(0).isClosed()).isFalse();
    harness.advanceMs(1_100);
    assertThat(queuePair(0).isClosed()).isTrue();
    assertThat(harness.released).containsExactly(1);
  }

  @Test
  void atTheLimitTheLeastRecentlyUsedIdleQueuePairMakesRoom() {
    for (String peer : List.of("a", "b", "c", "d")) {
      read(peer, 1);
      harness.run();
      harness.device.last().succeedAll();
      harness.advanceMs(10);
    }
    read("a", 1);
    harness.run();
    queuePair(0).succeedAll();
    harness.run();
    TestRead fifth = read("e", 1);
    harness.run();
    assertThat(queuePair(1).isClosed()).as("b's queue pair was idle longest").isTrue();
    harness.device.last().succeedAll();
    harness.run();
    fifth.assertSucceeded();
    assertThat(harness.count(TransferCounter.QUEUE_PAIRS_EVICTED)).isEqualTo(1);
  }

  @Test
  void atTheLimitWithNoneIdleAPeerWaitsForOne() {
    List<TestRead> busy = new ArrayList<>();
    for (String peer : List.of("a", "b", "c", "d")) {
      busy.add(read(peer, 1));
    }
    TestRead waiting = read("e", 1);
    harness.run();
    assertThat(harness.device.queuePairs).hasSize(4);
    queuePair(2).succeedAll();
    harness.run();
    assertThat(queuePair(2).isClosed()).isTrue();
    harness.device.queuePairs.forEach(ScriptedQueuePair::succeedAll);
    harness.run();
    waiting.assertSucceeded();
    busy.forEach(TestRead::assertSucceeded);
  }

  @Test
  void closingAnswersPostedWaitingConnectingAndLateReads() {
    TestRead posted = read("a", 30 * 4096);
    harness.run();
    harness.connectAtOnce = false;
    TestRead connecting = read("b", 1);
    harness.run();
    TestRead submitted = read("a", 1);
    harness.engine.close();
    TestRead late = read("a", 1);
    for (TestRead read : List.of(posted, connecting, submitted, late)) {
      read.assertFailed(Cause.CLOSED);
    }
    harness.engine.close();
  }

  @Test
  void aListenerThatThrowsDoesNoHarm() {
    List<String> told = new ArrayList<>();
    List<PooledBuffer> target = new ArrayList<>();
    harness.buffers.acquire(1, 0, target::add);
    ReadListener thrower =
        new ReadListener() {
          @Override
          public void onSuccess() {
            told.add("success");
            throw new IllegalStateException("expected by the test");
          }

          @Override
          public void onFailure(ReadException failure) {
            throw new AssertionError(failure);
          }
        };
    PeerAddress peer = EngineHarness.peer("a");
    List<RemoteRegion> ranges = List.of(new RemoteRegion(1, 1, 1));
    long deadline = harness.now + 1_000_000_000L;
    harness.engine.submit(new ReadRequest(peer, ranges, target.getFirst(), 0, deadline, thrower));
    target.getFirst().release();
    TestRead next = read("a", 1);
    harness.run();
    queuePair(0).succeedAll();
    harness.run();
    assertThat(told).containsExactly("success");
    next.assertSucceeded();
  }

  @Test
  void anEngineWithNothingToDoLooksForDeadlinesLessOften() {
    harness.advanceMs(50);
    assertThat(harness.engine.nanosToNextTick()).isEqualTo(ReadEngine.IDLE_TICK_NANOS);
    TestRead late = readWithin(100, "a", 1);
    harness.run();
    assertThat(harness.engine.nanosToNextTick()).isEqualTo(ReadEngine.TICK_NANOS);
    harness.advanceMs(100);
    late.assertFailed(Cause.DEADLINE);
  }

  @Test
  void bufferWaitsExpireWithTheTick() {
    List<PooledBuffer> taken = new ArrayList<>();
    List<PooledBuffer> waited = new ArrayList<>();
    int slab = harness.buffers.maxBufferBytes();
    LongStream.range(0, 4).forEach(i -> harness.buffers.acquire(slab, 0, taken::add));
    harness.buffers.acquire(slab, harness.now + 1_000_000, waited::add);
    harness.advanceMs(100);
    assertThat(waited).containsExactly((PooledBuffer) null);
    taken.forEach(PooledBuffer::release);
  }

  @Test
  void submittingWakesTheThreadOnlyWhenItSleeps() {
    read("a", 1);
    assertThat(harness.wakeUps).isZero();
    harness.run();
    queuePair(0).succeedAll();
    harness.run();
    harness.tasks.fallAsleep();
    read("a", 1);
    read("a", 1);
    assertThat(harness.wakeUps).isEqualTo(1);
  }

  /** Each step of a connection is a device command that may take a second. */
  @Test
  void connectingDelaysNoCompletion() {
    EngineHarness wide =
        new EngineHarness(
            EngineHarness.OPTIONS.with(
                o -> {
                  o.maxQueuePairs = 1_001;
                  o.bufferPoolBytes = 16 << 20;
                }),
            64);
    wide.device.maxQueuePairs = 1_001;
    wide.read("near", 10);
    wide.run();
    ScriptedQueuePair near = wide.device.last();
    near.succeedAll();
    Queue<Runnable> connecting = new ArrayDeque<>();
    wide.connectThreads = connecting::add;

    for (int i = 0; i < 1_000; i++) {
      wide.read("far-" + i, 10);
    }
    EngineHarness.TestRead read = wide.read("near", 10);
    wide.run();
    near.succeedAll();
    wide.run();

    read.assertSucceeded();
    assertThat(wide.device.queuePairs)
        .as("queue pairs that the engine's thread created")
        .hasSize(1);
    assertThat(connecting).hasSize(1_000);
    wide.connectThreads = Runnable::run;
    connecting.forEach(Runnable::run);
    wide.run();
    assertThat(wide.device.queuePairs).hasSize(1_001);
    wide.engine.close();
  }

  @Test
  void queuePairsConnectedTooLateAreDestroyed() {
    Queue<Runnable> connecting = new ArrayDeque<>();
    harness.connectThreads = connecting::add;
    EngineHarness.TestRead read = harness.read("a", 10);
    harness.run();
    connecting.remove().run(); // creates the queue pair and asks the peer
    harness.advanceMs(EngineHarness.OPTIONS.connectTimeoutMs());
    harness.advanceMs(EngineHarness.OPTIONS.connectTimeoutMs());

    while (!connecting.isEmpty()) {
      connecting.remove().run();
    }
    harness.run();

    read.assertFailed(ReadException.Cause.CONNECT);
    assertThat(harness.device.queuePairs).isNotEmpty().allMatch(ScriptedQueuePair::isClosed);
    assertThat(harness.released).as("the peer, which may have made its side").contains(1);
    harness.released.subList(1, harness.released.size()).clear(); // The common check counts one.
  }
}
