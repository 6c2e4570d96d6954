package dev.sluice.rdma.soft;

import dev.sluice.rdma.WorkCompletionStatus;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Takes what completes on a queue pair to its completion queues, and counts the places of its work
 * queues that are taken: one is free again when its completion has been polled.
 *
 * <p>Completions are held back until the lock of the queue pair is given up, so that all that came
 * in one turn of the event loop cost one visit to the completion queue and wake its reader once,
 * when the lock that the reader posts under is free. Everything but {@link #polled} and {@link
 * #announce} is called with that lock held.
 */
final class CompletionReporter {
  private final SoftQueuePair queuePair;
  private final SoftCompletionQueue sendQueue;
  private final SoftCompletionQueue receiveQueue;
  private final List<Completion> sends = new ArrayList<>();

  /** The same list where both go to one queue, in which they keep their order. */
  private final List<Completion> receives;

  private final AtomicInteger sendsQueued = new AtomicInteger();
  private final AtomicInteger receivesQueued = new AtomicInteger();

  /** Unsignaled work requests that succeeded since the last completion. */
  private int unreportedSends;

  CompletionReporter(
      SoftQueuePair queuePair, SoftCompletionQueue sendQueue, SoftCompletionQueue receiveQueue) {
    this.queuePair = queuePair;
    this.sendQueue = sendQueue;
    this.receiveQueue = receiveQueue;
    receives = sendQueue == receiveQueue ? sends : new ArrayList<>();
  }

  int sendsQueued() {
    return sendsQueued.get();
  }

  int receivesQueued() {
    return receivesQueued.get();
  }

  void sendQueued() {
    sendsQueued.incrementAndGet();
  }

  void receiveQueued() {
    receivesQueued.incrementAndGet();
  }

  /** Called for each work request of the send queue, in posting order. */
  void completeSend(PendingSend send, WorkCompletionStatus status) {
    unreportedSends++;
    if (status == WorkCompletionStatus.SUCCESS && !send.isSignaled()) {
      return;
    }
    sends.add(
        Completion.ofSend(
            queuePair, send.request.wrId(), status, send.opcode(), send.length, unreportedSends));
    unreportedSends = 0;
  }

  void completeReceive(Completion completion) {
    receives.add(completion);
  }

  /**
   * Makes what completed visible to those who poll.
   *
   * @return false when it was more than a completion queue holds: that queue is lost
   */
  boolean report() {
    boolean kept = sends.isEmpty() || sendQueue.push(sends);
    sends.clear();
    if (!receives.isEmpty()) {
      kept &= receiveQueue.push(receives);
      receives.clear();
    }
    return kept;
  }

  /** Wakes those who wait for what was reported. Without the lock of the queue pair. */
  void announce() {
    sendQueue.announce();
    if (receiveQueue != sendQueue) {
      receiveQueue.announce();
    }
  }

  /** A completion was polled: its places in the queues are free. Any thread. */
  void polled(Completion completion) {
    if (completion.isReceive()) {
      receivesQueued.decrementAndGet();
    } else {
      sendsQueued.addAndGet(-completion.retiredSends());
    }
  }

  /** Forgets everything that has not been polled. */
  void reset() {
    sends.clear();
    receives.clear();
    sendQueue.drop(queuePair);
    receiveQueue.drop(queuePair);
    sendsQueued.set(0);
    receivesQueued.set(0);
    unreportedSends = 0;
  }

  /** The queue pair is destroyed. */
  void close() {
    sendQueue.detach();
    receiveQueue.detach();
  }
}
