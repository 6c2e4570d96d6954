// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.soft;

import dev.sluice.rdma.QueuePairState;
import dev.sluice.rdma.SendWorkRequest;
import dev.sluice.verbs.VerbsException;

/**
 * The state of a queue pair, and the changes of it and the work requests that it allows
 * (ibv_modify_qp(3)). The {@link SoftQueuePair} has it. Any thread reads the state; all other calls
 * hold the queue pair's lock.
 */
final class StateMachine {
  private final SoftQueuePair queuePair;
  private volatile QueuePairState state = QueuePairState.RESET;
  private boolean closed;

  StateMachine(SoftQueuePair queuePair) {
    this.queuePair = queuePair;
  }

  QueuePairState state() {
    return state;
  }

  boolean isInError() {
    return state == QueuePairState.ERROR;
  }

  boolean isClosed() {
    return closed;
  }

  /** Changes the state unconditionally. */
  void enter(QueuePairState to) {
    state = to;
  }

  /** Changes the state if it is {@code from}. */
  void advance(QueuePairState from, QueuePairState to) throws VerbsException {
    require(from, to);
    state = to;
  }

  void require(QueuePairState from, QueuePairState to) throws VerbsException {
    requireOpen(to);
    if (state != from) {
      throw refusal(to, "the queue pair is in " + state + ", not in " + from);
    }
  }

  void requireOpen(QueuePairState to) throws VerbsException {
    if (closed) {
      throw refusal(to, "the queue pair is closed");
    }
  }

  /**
   * Checks a work request when it is posted, before it takes an entry of the send queue.
   *
   * @param queued occupied entries of the send queue
   */
  void checkPost(SendWorkRequest request, int queued) throws VerbsException {
    int length = request.length();
    long longest = queuePair.device().attributes().maxMessageSize();
    if (closed) {
      throw refusedPost(VerbsException.EINVAL, "the queue pair is closed");
    } else if (state != QueuePairState.RTS && !isInError()) {
      throw refusedPost(VerbsException.EINVAL, "the queue pair is in " + state);
    } else if (queued == queuePair.depth()) {
      throw refusedPost(VerbsException.ENOMEM, "the send queue is full");
    } else if (length < 0 || length > longest) {
      throw refusedPost(VerbsException.EINVAL, length + " bytes are not 0 to " + longest);
    }
  }

  private static VerbsException refusedPost(int errno, String reason) {
    return new VerbsException("RDMA_READ", errno, reason);
  }

  /** The error for a refused change of state. */
  VerbsException refusal(QueuePairState to, String reason) {
    return new VerbsException(
        "ibv_modify_qp(" + queuePair + ", " + to + ")", VerbsException.EINVAL, reason);
  }

  /** Allows no state but RESET from now on. Returns true on the first call. */
  boolean close() {
    boolean first = !closed;
    closed = true;
    return first;
  }
}
