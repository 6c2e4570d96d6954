// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.transfer;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.rdma.AccessFlag;
import dev.sluice.rdma.ConnectionAttributes;
import dev.sluice.rdma.QueuePair;
import dev.sluice.rdma.QueuePairAddress;
import dev.sluice.rdma.QueuePairState;
import dev.sluice.rdma.SendWorkRequest;
import dev.sluice.rdma.WorkCompletionStatus;
import dev.sluice.verbs.PostException;
import dev.sluice.verbs.VerbsException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

/** A queue pair of a {@link ScriptedDevice}, whose work requests complete when a test says so. */
final class ScriptedQueuePair implements QueuePair {
  final Deque<SendWorkRequest> outstanding = new ArrayDeque<>();
  final List<List<SendWorkRequest>> chains = new ArrayList<>();
  Set<AccessFlag> access;
  int refuseAt = -1;

  /** Thrown by the next post; null for none. */
  Error postError;

  /** True if the device refuses to destroy it. */
  boolean undead;

  /** True if it breaks without an event of the device. */
  boolean silent;

  private final ScriptedDevice device;
  private final int qpNumber;
  private final int depth;
  private QueuePairState state = QueuePairState.RESET;
  private boolean closed;

  ScriptedQueuePair(ScriptedDevice device, int qpNumber, int depth) {
    this.device = device;
    this.qpNumber = qpNumber;
    this.depth = depth;
  }

  /** Completes the first {@code count} outstanding work requests with success. */
  void succeed(int count) {
    for (int i = 0; i < count; i++) {
      SendWorkRequest done = outstanding.remove();
      if (done.signaled()) {
        complete(done, WorkCompletionStatus.SUCCESS);
      }
    }
  }

  void succeedAll() {
    succeed(outstanding.size());
  }

  /** Fails the first outstanding work request and flushes the others. */
  void fail(WorkCompletionStatus status) {
    complete(outstanding.remove(), status);
    state = QueuePairState.ERROR;
    flush();
  }

  /** Flushes every outstanding work request, without a first failure. */
  void flush() {
    while (!outstanding.isEmpty()) {
      complete(outstanding.remove(), WorkCompletionStatus.WR_FLUSH_ERR);
    }
  }

  private void complete(SendWorkRequest done, WorkCompletionStatus status) {
    device.completions.add(new ScriptedDevice.Completion(done.wrId(), status, qpNumber));
  }

  @Override
  public void postSend(List<SendWorkRequest> chain) throws PostException {
    assertThat(state).isIn(QueuePairState.RTS, QueuePairState.ERROR);
    chains.add(chain.stream().map(SendWorkRequest::copy).toList());
    Error thrown = postError == null ? device.postError : postError;
    postError = null;
    if (thrown != null) {
      throw thrown;
    }
    for (int i = 0; i < chain.size(); i++) {
      if (i == refuseAt) {
        throw new PostException("post", VerbsException.EINVAL, "scripted", i);
      }
      assertThat(outstanding.size()).as("send queue").isLessThan(depth);
      assertThat(device.outstanding()).as("completion queue").isLessThan(device.capacity());
      outstanding.add(chain.get(i).copy());
    }
    assertThat(chain.getLast().signaled()).as("else nothing retires the chain").isTrue();
  }

  @Override
  public void toError() {
    state = QueuePairState.ERROR;
    if (device.flushes) {
      flush();
    }
  }

  @Override
  public void toReset() {
    throw new UnsupportedOperationException();
  }

  @Override
  public void toInit(Set<AccessFlag> remoteAccess) {
    move(QueuePairState.RESET, QueuePairState.INIT);
    access = Set.copyOf(remoteAccess);
  }

  @Override
  public CompletableFuture<QueuePairAddress> rendezvous(QueuePairAddress remote, long timeoutMs) {
    return device.meetings == null
        ? CompletableFuture.completedFuture(remote)
        : device.meetings.thenApply(met -> remote);
  }

  @Override
  public void toRtr(QueuePairAddress remote, ConnectionAttributes attributes) {
    move(QueuePairState.INIT, QueuePairState.RTR);
  }

  @Override
  public void toRts() {
    move(QueuePairState.RTR, QueuePairState.RTS);
  }

  private void move(QueuePairState from, QueuePairState to) {
    assertThat(state).isEqualTo(from);
    state = to;
  }

  @Override
  public int qpNumber() {
    return qpNumber;
  }

  @Override
  public QueuePairState state() {
    return state;
  }

  @Override
  public boolean hasFailed() {
    return !silent && state == QueuePairState.ERROR;
  }

  @Override
  public QueuePairAddress address() {
    return device.address(qpNumber);
  }

  @Override
  public boolean isDestroyed() {
    return closed && !undead;
  }

  boolean isClosed() {
    return closed;
  }

  @Override
  public void close() {
    closed = true;
    outstanding.clear();
    device.completions.removeIf(completion -> completion.qpNumber() == qpNumber);
  }
}
