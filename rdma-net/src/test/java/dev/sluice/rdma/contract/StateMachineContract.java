// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.contract;

import static dev.sluice.rdma.WorkCompletionStatus.SUCCESS;
import static dev.sluice.rdma.WorkCompletionStatus.WR_FLUSH_ERR;
import static dev.sluice.verbs.VerbsException.EINVAL;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import dev.sluice.rdma.ConnectionAttributes;
import dev.sluice.rdma.QueuePair;
import dev.sluice.rdma.QueuePairAddress;
import dev.sluice.rdma.QueuePairState;
import dev.sluice.rdma.TestNode;
import dev.sluice.rdma.TestNode.Completed;
import dev.sluice.rdma.WorkCompletions;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The states of a queue pair. */
public abstract class StateMachineContract extends RdmaProviderContract {

  @Test
  void beginsInReset() throws Exception {
    QueuePair queuePair = left.createQueuePair();
    assertThat(queuePair.state()).isEqualTo(QueuePairState.RESET);
    assertThatThrownBy(queuePair::address).isInstanceOf(IllegalStateException.class);
  }

  @Test
  void goesThroughItsStatesInOrder() throws Exception {
    QueuePair a = left.createQueuePair();
    QueuePair b = right.createQueuePair();
    b.toInit(TestNode.ALL);
    a.toInit(TestNode.ALL);
    assertThat(a.state()).isEqualTo(QueuePairState.INIT);
    a.toRtr(b.address(), ConnectionAttributes.DEFAULT);
    assertThat(a.state()).isEqualTo(QueuePairState.RTR);
    a.toRts();
    assertThat(a.state()).isEqualTo(QueuePairState.RTS);
    a.toError();
    assertThat(a.state()).isEqualTo(QueuePairState.ERROR);
    a.toReset();
    assertThat(a.state()).isEqualTo(QueuePairState.RESET);
  }

  @Test
  void refusesEveryOtherTransition() throws Exception {
    QueuePair peer = right.createQueuePair();
    peer.toInit(TestNode.ALL);
    QueuePairAddress remote = peer.address();
    QueuePair queuePair = left.createQueuePair();
    assertErrno(EINVAL, () -> queuePair.toRtr(remote, ConnectionAttributes.DEFAULT));
    assertErrno(EINVAL, queuePair::toRts);
    queuePair.toInit(TestNode.ALL);
    assertErrno(EINVAL, queuePair::toRts);
    queuePair.toRtr(remote, ConnectionAttributes.DEFAULT);
    assertErrno(EINVAL, () -> queuePair.toInit(TestNode.ALL));
    assertErrno(EINVAL, () -> queuePair.toRtr(remote, ConnectionAttributes.DEFAULT));
    queuePair.toRts();
    assertErrno(EINVAL, queuePair::toRts);
    queuePair.toError();
    assertErrno(EINVAL, queuePair::toRts);
    assertErrno(EINVAL, () -> queuePair.toInit(TestNode.ALL));
  }

  @Test
  void attributesOutOfRangeAreRefused() throws Exception {
    QueuePair a = left.createQueuePair();
    QueuePair b = right.createQueuePair();
    a.toInit(TestNode.ALL);
    b.toInit(TestNode.ALL);
    int tooMany = left.device.attributes().maxQueuePairInitRdAtomic() + 1;
    ConnectionAttributes good = ConnectionAttributes.DEFAULT.with(c -> c.maxRdAtomic = 1);
    for (ConnectionAttributes bad :
        List.of(
            good.with(c -> c.timeoutExponent = 32),
            good.with(c -> c.retryCount = 8),
            good.with(c -> c.rnrRetry = 8),
            good.with(c -> c.minRnrTimer = 32),
            good.with(c -> c.maxRdAtomic = tooMany))) {
      assertErrno(EINVAL, () -> a.toRtr(b.address(), bad));
    }
    assertThat(a.state()).isEqualTo(QueuePairState.INIT);
  }

  @Test
  void nothingCanBeSentBeforeRts() throws Exception {
    QueuePair a = left.createQueuePair();
    QueuePair b = right.createQueuePair();
    b.toInit(TestNode.ALL);
    var read = List.of(read(1, target(8), source(8), 8));
    assertErrno(EINVAL, () -> a.postSend(read));
    a.toInit(TestNode.ALL);
    assertErrno(EINVAL, () -> a.postSend(read));
    a.toRtr(b.address(), ConnectionAttributes.DEFAULT);
    assertErrno(EINVAL, () -> a.postSend(read));
  }

  @Test
  void closedQueuePairRefusesEverything() throws Exception {
    Pair pair = connectedPair();
    pair.left().close();
    pair.left().close();
    var read = List.of(read(1, target(8), source(8), 8));
    assertErrno(EINVAL, () -> pair.left().postSend(read));
    assertErrno(EINVAL, pair.left()::toError);
  }

  @Test
  void errorFlushesPendingAndLaterRequests() throws Exception {
    assumeConnectingByAddresses();
    QueuePair queuePair = unanswered();
    queuePair.toError();
    assertThat(left.await(2))
        .extracting(Completed::wrId, Completed::status)
        .containsExactly(tuple(1L, WR_FLUSH_ERR), tuple(2L, WR_FLUSH_ERR));
    queuePair.postSend(List.of(read(3, target(8), source(8), 8)));
    assertThat(left.await(1))
        .extracting(Completed::wrId, Completed::status)
        .containsExactly(tuple(3L, WR_FLUSH_ERR));
  }

  /** Returns a queue pair with two READs posted to a peer that is not ready to answer them. */
  private QueuePair unanswered() throws Exception {
    QueuePair a = left.createQueuePair();
    QueuePair b = right.createQueuePair();
    a.toInit(TestNode.ALL);
    b.toInit(TestNode.ALL);
    a.toRtr(b.address(), ConnectionAttributes.DEFAULT);
    a.toRts();
    a.postSend(List.of(read(1, target(8), source(8), 8), read(2, target(8), source(8), 8)));
    return a;
  }

  @Test
  void resetDropsWithoutCompletionsAndTheQueuePairCanBeUsedAgain() throws Exception {
    Pair pair = connectedPair();
    pair.left().toError();
    pair.left().postSend(List.of(read(1, target(8), source(8), 8)));
    pair.left().toReset();
    pair.right().toReset();
    assertThat(left.cq.poll(new WorkCompletions(1))).isZero();
    TestNode.connect(pair.left(), pair.right());
    assertWorks(pair);
  }

  @Test
  void failedPairCanBeConnectedAgain() throws Exception {
    Pair pair = connectedPair();
    var stale = source(8);
    stale.close();
    pair.left().postSend(List.of(read(1, target(8), stale, 8)));
    left.await(1);
    pair.left().toReset();
    pair.right().toReset();
    TestNode.connect(pair.left(), pair.right());
    assertWorks(pair);
  }

  @Test
  void requestsPostedBeforeThePeerIsReadyAreServedOnceItIs() throws Exception {
    assumeConnectingByAddresses();
    for (boolean leftFirst : new boolean[] {true, false}) {
      QueuePair a = left.createQueuePair();
      QueuePair b = right.createQueuePair();
      a.toInit(TestNode.ALL);
      b.toInit(TestNode.ALL);
      QueuePair first = leftFirst ? a : b;
      QueuePair second = leftFirst ? b : a;
      first.toRtr(second.address(), ConnectionAttributes.DEFAULT);
      first.toRts();
      if (leftFirst) {
        a.postSend(List.of(read(1, target(8), source(8), 8)));
      }
      second.toRtr(first.address(), ConnectionAttributes.DEFAULT);
      second.toRts();
      if (!leftFirst) {
        a.postSend(List.of(read(1, target(8), source(8), 8)));
      }
      assertThat(statuses(left.await(1))).containsExactly(SUCCESS);
    }
  }

  @Test
  void peerInRtrAnswers() throws Exception {
    QueuePair a = left.createQueuePair();
    QueuePair b = right.createQueuePair();
    a.toInit(TestNode.ALL);
    b.toInit(TestNode.ALL);
    b.toRtr(a.address(), ConnectionAttributes.DEFAULT);
    a.toRtr(TestNode.meet(a, b.address()), ConnectionAttributes.DEFAULT);
    a.toRts();
    a.postSend(List.of(read(1, target(8), source(8), 8)));
    assertThat(statuses(left.await(1))).containsExactly(SUCCESS);
  }
}
