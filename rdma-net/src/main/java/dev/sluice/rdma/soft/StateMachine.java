package dev.sluice.rdma.soft;

import dev.sluice.rdma.QueuePairState;
import dev.sluice.rdma.VerbsException;

/**
 * The state of a queue pair and which changes of it may be asked for (ibv_modify_qp(3)). Any thread
 * reads the state; everything else is called with the queue pair's lock held.
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

  /** Changes the state, whatever it was. */
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

  /** Why the queue pair does not change its state. */
  VerbsException refusal(QueuePairState to, String reason) {
    return new VerbsException(
        "ibv_modify_qp(" + queuePair + ", " + to + ")", VerbsException.EINVAL, reason);
  }

  /** No state but RESET from now on; true the first time. */
  boolean close() {
    boolean first = !closed;
    closed = true;
    return first;
  }
}
