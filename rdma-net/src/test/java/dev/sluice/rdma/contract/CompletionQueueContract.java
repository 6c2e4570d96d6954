// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.contract;

import static dev.sluice.rdma.WorkCompletionStatus.SUCCESS;
import static dev.sluice.verbs.VerbsException.EIO;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.rdma.CompletionChannel;
import dev.sluice.rdma.CompletionQueue;
import dev.sluice.rdma.MemoryRegion;
import dev.sluice.rdma.QueuePair;
import dev.sluice.rdma.QueuePairState;
import dev.sluice.rdma.TestNode;
import dev.sluice.rdma.WorkCompletions;
import dev.sluice.verbs.VerbsException;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Completion queues and channels. */
public abstract class CompletionQueueContract extends RdmaProviderContract {
  private static final long DEADLINE_MS = 30_000;

  @Test
  void pollOfAnEmptyQueueReturnsAtOnceAndClearsTheBatch() throws Exception {
    WorkCompletions batch = new WorkCompletions(1);
    batch.add(1, SUCCESS, 0, 0);
    assertThat(left.cq.poll(batch)).isZero();
    assertThat(batch.size()).isZero();
  }

  @Test
  void smallBatchLeavesTheRestForTheNextPoll() throws Exception {
    MemoryRegion source = source(8);
    Pair pair = connectedPair();
    pair.left().postSend(Collections.nCopies(10, read(1, target(8), source, 8)));
    // The last READ is done, so all earlier ones can be polled.
    WorkCompletions three = new WorkCompletions(3);
    long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(DEADLINE_MS);
    int polled = 0;
    while (polled < 10) {
      int now = left.cq.poll(three);
      assertThat(now).isLessThanOrEqualTo(3);
      polled += now;
      assertThat(System.nanoTime()).isLessThan(deadline);
    }
    assertThat(left.cq.poll(three)).isZero();
  }

  @Test
  void armedQueueRaisesOneEvent() throws Exception {
    Pair pair = connectedPair();
    MemoryRegion source = source(8);
    left.cq.requestNotify();
    pair.left().postSend(List.of(read(1, target(8), source, 8), read(2, target(8), source, 8)));
    assertThat(left.channel.await(DEADLINE_MS)).isTrue();
    left.await(2);
    assertThat(left.channel.await(0)).isFalse();
  }

  @Test
  void queueThatIsNotArmedRaisesNone() throws Exception {
    assertWorks(connectedPair());
    assertThat(left.channel.await(0)).isFalse();
  }

  @Test
  void sleeperThatArmsAndPollsAgainMissesNothing() throws Exception {
    Pair pair = connectedPair();
    MemoryRegion source = source(8);
    MemoryRegion target = target(8);
    WorkCompletions batch = new WorkCompletions(16);
    for (int round = 0; round < 2000; round++) {
      pair.left().postSend(List.of(read(round, target, source, 8)));
      int polled = left.cq.poll(batch);
      while (polled == 0) {
        left.cq.requestNotify();
        polled = left.cq.poll(batch);
        if (polled == 0) {
          assertThat(left.channel.await(DEADLINE_MS)).as("round %d", round).isTrue();
          polled = left.cq.poll(batch);
        }
      }
      assertThat(batch.wrId(0)).isEqualTo(round);
    }
  }

  @Test
  void wakeUpEndsThePresentWaitWithoutAnEvent() throws Exception {
    CompletableFuture<Boolean> waiter =
        CompletableFuture.supplyAsync(() -> left.channel.await(DEADLINE_MS));
    left.channel.wakeUp();
    assertThat(waiter.get(DEADLINE_MS, TimeUnit.MILLISECONDS)).isFalse();
  }

  @Test
  void wakeUpEndsTheNextWaitAndOnlyThat() throws Exception {
    left.channel.wakeUp();
    assertThat(left.channel.await(DEADLINE_MS)).isFalse();
    left.cq.requestNotify();
    connectedPair().left().postSend(List.of(read(1, target(8), source(8), 8)));
    assertThat(left.channel.await(DEADLINE_MS)).isTrue();
  }

  @Test
  void closingAChannelEndsTheWait() throws Exception {
    CompletionChannel channel = left.device.createCompletionChannel();
    CompletableFuture<Boolean> waiter =
        CompletableFuture.supplyAsync(() -> channel.await(DEADLINE_MS));
    channel.close();
    assertThat(waiter.get(DEADLINE_MS, TimeUnit.MILLISECONDS)).isFalse();
    channel.close();
  }

  @Test
  void channelServesSeveralQueues() throws Exception {
    CompletionQueue other = left.device.createCompletionQueue(16, left.channel);
    QueuePair a = left.pd.createQueuePair(other, TestNode.DEPTH);
    QueuePair b = right.createQueuePair();
    TestNode.connect(a, b);
    other.requestNotify();
    a.postSend(List.of(read(1, target(8), source(8), 8)));
    assertThat(left.channel.await(DEADLINE_MS)).isTrue();
    assertThat(statuses(TestNode.await(other, 1))).containsExactly(SUCCESS);
  }

  @Test
  void overrunMakesTheQueueAndItsQueuePairsUnusable() throws Exception {
    CompletionQueue small = left.device.createCompletionQueue(1, left.channel);
    QueuePair a = left.pd.createQueuePair(small, TestNode.DEPTH);
    QueuePair b = right.createQueuePair();
    TestNode.connect(a, b);
    MemoryRegion source = source(8);
    int count = TestNode.DEPTH;
    a.postSend(Collections.nCopies(count, read(1, target(8), source, 8)));
    // The queue is lost when more completions arrive than it holds; that takes a moment.
    long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(DEADLINE_MS);
    while (a.state() != QueuePairState.ERROR) {
      assertThat(System.nanoTime()).isLessThan(deadline);
      Thread.onSpinWait();
    }
    assertErrno(EIO, () -> small.poll(new WorkCompletions(1)));
    assertWorks(connectedPair());
  }

  @Test
  void destroyedQueuePairLeavesNoCompletions() throws Exception {
    Pair pair = connectedPair();
    Pair other = connectedPair();
    pair.left().toError();
    pair.left().postSend(List.of(read(1, target(8), source(8), 8)));
    other.left().toError();
    other.left().postSend(List.of(read(2, target(8), source(8), 8)));
    pair.left().close();
    assertThat(wrIds(left.await(1))).containsExactly(2L);
    assertThat(left.cq.poll(new WorkCompletions(1))).isZero();
  }

  @Test
  void completionsNameTheirQueuePair() throws Exception {
    Set<Integer> numbers = new java.util.HashSet<>();
    for (int i = 0; i < 3; i++) {
      Pair pair = connectedPair();
      pair.left().postSend(List.of(read(1, target(8), source(8), 8)));
      assertThat(left.await(1).getFirst().qpNumber()).isEqualTo(pair.left().qpNumber());
      numbers.add(pair.left().qpNumber());
    }
    assertThat(numbers).hasSize(3);
  }

  @Test
  void armingWithoutAChannelIsRefused() throws Exception {
    CompletionQueue silent = left.device.createCompletionQueue(1, null);
    assertErrno(VerbsException.EINVAL, () -> silent.requestNotify());
  }
}
