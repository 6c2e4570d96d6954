// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.transfer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.sluice.rdma.AccessFlag;
import dev.sluice.rdma.QueuePairAddress;
import dev.sluice.rdma.QueuePairState;
import dev.sluice.verbs.VerbsException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import org.junit.jupiter.api.Test;

class AcceptedQueuePairsTest {
  private static final TransferOptions TWO = TransferOptions.DEFAULT.with(o -> o.maxQueuePairs = 2);

  private final ScriptedDevice device = new ScriptedDevice();
  private final Queue<Runnable> whenGone = new ArrayDeque<>();
  private final Counters<TransferCounter> counters = new Counters<>(TransferCounter.class);
  private Executor threads = Runnable::run;
  private final AcceptedQueuePairs accepted =
      new AcceptedQueuePairs(
          device,
          device,
          TWO,
          counters,
          task -> this.threads.execute(task),
          task -> this.whenGone.add(task));

  private ScriptedQueuePair accept(String peerId, int remoteQpNumber) throws VerbsException {
    CompletableFuture<QueuePairAddress> answer = ask(peerId, remoteQpNumber);
    if (answer.isCompletedExceptionally()) {
      throw (VerbsException) answer.exceptionNow();
    }
    int local = answer.resultNow().qpNumber();
    assertThat(local).isEqualTo(device.last().qpNumber());
    return device.last();
  }

  private CompletableFuture<QueuePairAddress> ask(String peerId, int remoteQpNumber) {
    return accepted.accept(peerId, device.address(remoteQpNumber));
  }

  private void assertRefuses(String peerId) {
    assertThatExceptionOfType(VerbsException.class)
        .isThrownBy(() -> accept(peerId, 1))
        .withMessageContaining(peerId)
        .satisfies(e -> assertThat(e.errno()).isEqualTo(VerbsException.ENOMEM));
  }

  @Test
  void allowsREADsAndNothingElseAndAnswersThem() throws VerbsException {
    ScriptedQueuePair queuePair = accept("a", 1);
    assertThat(queuePair.access).containsExactly(AccessFlag.REMOTE_READ);
    assertThat(queuePair.state()).isEqualTo(QueuePairState.RTR);
  }

  @Test
  void refusesWhenEveryPeerNeedsItsOwn() throws VerbsException {
    accept("a", 1);
    ScriptedQueuePair second = accept("b", 1);
    assertRefuses("c");
    accepted.disconnected("b", 1);
    assertThat(second.isClosed()).isTrue();
    accept("c", 1);
  }

  /** The total says nothing about how close the limit is. */
  @Test
  void countsThoseThatAreOpenNow() throws VerbsException {
    accept("a", 1);
    accept("b", 1);
    assertRefuses("c");
    assertThat(serving()).isEqualTo(2);
    accepted.disconnected("b", 1);
    accepted.disconnected("b", 1);
    assertThat(serving()).isEqualTo(1);
    accept("c", 1).toError();
    accept("d", 1);
    assertThat(serving()).isEqualTo(2);
    accepted.close();
    assertThat(serving()).isZero();
    assertThat(counters.get(TransferCounter.QUEUE_PAIRS_ACCEPTED)).isEqualTo(4);
  }

  @Test
  void oneThatCannotBeConnectedIsNotCounted() {
    device.maxQueuePairs = 0;
    assertThat(ask("a", 1)).isCompletedExceptionally();
    assertThat(serving()).isZero();
  }

  private long serving() {
    return counters.get(TransferCounter.QUEUE_PAIRS_SERVING);
  }

  @Test
  void queuePairsThatThePeerReplacedMakeRoom() throws VerbsException {
    ScriptedQueuePair replaced = accept("a", 1);
    ScriptedQueuePair newest = accept("a", 2);
    accept("b", 1);
    assertThat(replaced.isClosed()).isTrue();
    assertThat(newest.isClosed()).isFalse();
    assertRefuses("c");
  }

  @Test
  void aBrokenOneMakesRoom() throws VerbsException {
    ScriptedQueuePair broken = accept("a", 1);
    accept("b", 1);
    broken.toError();
    accept("c", 1);
    assertThat(broken.isClosed()).isTrue();
  }

  @Test
  void silentlyBrokenQueuePairsMakeRoomForTheNext() throws VerbsException {
    ScriptedQueuePair broken = accept("a", 1);
    accept("b", 1);
    broken.silent = true;
    broken.toError();

    assertRefuses("c");

    assertThat(broken.isClosed()).isTrue();
    accept("c", 1);
  }

  @Test
  void queuePairsOfPeersThatLeftMakeRoom() throws VerbsException {
    ScriptedQueuePair left = accept("a", 1);
    ScriptedQueuePair other = accept("b", 1);
    accepted.peerLeft("a");
    assertThat(left.isClosed()).as("it may be in use").isFalse();

    ScriptedQueuePair next = accept("c", 1);

    assertThat(left.isClosed()).isTrue();
    assertThat(other.isClosed()).isFalse();
    accepted.peerLeft("c");
    accept("c", 1);
    assertThat(next.isClosed()).as("connected anew").isTrue();
    assertRefuses("d");
  }

  @Test
  void aQueuePairThatWasConnectedAsItsPeerLeftMakesRoom() throws VerbsException {
    Queue<Runnable> connecting = new ArrayDeque<>();
    threads = connecting::add;
    ask("a", 1);
    accepted.peerLeft("a");
    connecting.remove().run();
    ScriptedQueuePair left = device.last();
    threads = Runnable::run;
    accept("b", 1);
    assertThat(left.isClosed()).isFalse();

    accept("c", 1);

    assertThat(left.isClosed()).isTrue();
  }

  /** There is room for more, so nothing else would ever close them. */
  @Test
  void queuePairsOfAPeerThatDoesNotReturnAreClosed() throws VerbsException {
    ScriptedQueuePair gone = accept("a", 1);
    ScriptedQueuePair other = accept("b", 1);
    accepted.peerLeft("a");
    assertThat(gone.isClosed()).as("it may be in use").isFalse();

    whenGone.remove().run();

    assertThat(gone.isClosed()).isTrue();
    assertThat(other.isClosed()).isFalse();
    accept("c", 1);
  }

  @Test
  void aQueuePairThatIsBeingConnectedAsItsPeerLeavesIsClosed() {
    device.whileCreating =
        () -> {
          accepted.peerLeft("a");
          whenGone.remove().run();
        };

    assertThat(ask("a", 1)).isCompletedExceptionally();
    assertThat(device.last().isClosed()).isTrue();
  }

  @Test
  void aPeerThatReturnsKeepsItsQueuePairs() throws VerbsException {
    ScriptedQueuePair returned = accept("a", 1);
    ScriptedQueuePair connectedAnew = accept("b", 1);
    accepted.peerLeft("a");
    accepted.peerLeft("b");
    accepted.peerReturned("a");
    accept("b", 1);
    whenGone.forEach(Runnable::run);

    assertThat(returned.isClosed()).isFalse();
    assertThat(connectedAnew.isClosed()).as("its peer uses the number again").isTrue();
    assertThat(device.last().isClosed()).isFalse();
  }

  @Test
  void aPeerThatLeavesAgainHasItsWholeTimeToReturn() throws VerbsException {
    ScriptedQueuePair queuePair = accept("a", 1);
    accepted.peerLeft("a");
    accepted.peerReturned("a");
    accepted.peerLeft("a");
    whenGone.remove().run();
    assertThat(queuePair.isClosed()).as("after the first time").isFalse();

    whenGone.remove().run();
    assertThat(queuePair.isClosed()).isTrue();
  }

  @Test
  void aPeerWithoutAQueuePairIsForgottenAtOnce() {
    accepted.peerLeft("a");
    assertThat(whenGone).isEmpty();
  }

  @Test
  void theSameRemoteQueuePairIsConnectedAnew() throws VerbsException {
    ScriptedQueuePair before = accept("a", 1);
    accept("a", 1);
    assertThat(before.isClosed()).isTrue();
    accept("b", 1);
  }

  @Test
  void aLostPeerLosesAllOfIts() throws VerbsException {
    ScriptedQueuePair first = accept("a", 1);
    ScriptedQueuePair other = accept("b", 2);
    accepted.peerLost("a");
    accepted.disconnected("b", 99);
    assertThat(first.isClosed()).isTrue();
    assertThat(other.isClosed()).isFalse();
  }

  @Test
  void connectionsThatFailByAnErrorAreAnsweredAndTakeNoRoom() throws VerbsException {
    device.error = new OutOfMemoryError("scripted");
    threads =
        task -> {
          try {
            task.run();
          } catch (OutOfMemoryError e) {
            // The error ends a thread.
          }
        };
    assertThat(ask("a", 1)).isCompletedExceptionally();
    assertThat(ask("b", 1)).isCompletedExceptionally();

    device.error = null;
    threads =
        _ -> {
          throw new OutOfMemoryError("unable to create native thread");
        };
    assertThat(ask("a", 1)).isCompletedExceptionally();
    assertThat(ask("b", 1)).isCompletedExceptionally();

    threads = Runnable::run;
    accept("c", 1);
    accept("d", 1);
  }

  @Test
  void closedItClosesAllAndAcceptsNothing() throws VerbsException {
    ScriptedQueuePair queuePair = accept("a", 1);
    accepted.close();
    accepted.close();
    assertThat(queuePair.isClosed()).isTrue();
    assertThatExceptionOfType(VerbsException.class).isThrownBy(() -> accept("a", 2));
  }

  /** Like a peer whose address does not resolve: ibv_modify_qp(3) waits for a second. */
  @Test
  void unreachablePeersDelayNoOther() throws Exception {
    Queue<Runnable> connecting = new ArrayDeque<>();
    threads = connecting::add;
    CompletableFuture<QueuePairAddress> slow = ask("a", 1);
    threads = Runnable::run;

    accept("b", 1);
    assertRefuses("c");

    connecting.remove().run();
    assertThat(slow).isCompleted();
  }

  @Test
  void queuePairsAbandonedWhileConnectingAreDestroyed() throws Exception {
    Queue<Runnable> connecting = new ArrayDeque<>();
    threads = connecting::add;
    CompletableFuture<QueuePairAddress> late = ask("a", 1);
    List<CompletableFuture<QueuePairAddress>> next = new ArrayList<>();
    device.whileCreating =
        () -> {
          accepted.disconnected("a", 1);
          next.add(ask("a", 1)); // uses the number again
        };

    connecting.remove().run();
    assertThat(late).isCompletedExceptionally();
    assertThat(device.last().isClosed()).isTrue();
    connecting.remove().run();
    assertThat(next).singleElement().matches(CompletableFuture::isDone, "is connected");
    assertThat(device.last().isClosed()).isFalse();
  }

  /** Its protection domain may be closed by now. */
  @Test
  void aRequestThatIsWithdrawnBeforeItIsConnectedCreatesNoQueuePair() {
    Queue<Runnable> connecting = new ArrayDeque<>();
    threads = connecting::add;
    CompletableFuture<QueuePairAddress> late = ask("a", 1);
    accepted.close();

    connecting.remove().run();

    assertThat(late).isCompletedExceptionally();
    assertThat(device.queuePairs).isEmpty();
  }
}
