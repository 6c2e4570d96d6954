// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.soft;

import dev.sluice.rdma.WorkCompletionStatus;
import dev.sluice.rdma.soft.Initiator.PendingSend;
import dev.sluice.rdma.soft.SoftCompletionQueue.Completion;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Delivers the completions of a queue pair to its completion queue. Counts the occupied entries of
 * the send queue; an entry becomes free once its completion is polled.
 *
 * <p>Completions are held back until the queue pair's lock is released. All completions of one turn
 * of the event loop then cost one visit to the completion queue and one wake-up of its reader, when
 * the lock that the reader needs for posting is free. The {@link SoftQueuePair} has it and calls it
 * under that lock. Only {@link #polled}, {@link #announce} and {@link #close} are called without
 * the lock: by pollers, after each release of it, and once at the end.
 */
final class CompletionReporter {
  private final SoftQueuePair queuePair;
  private final SoftCompletionQueue queue;
  private final List<Completion> completions = new ArrayList<>();
  private final AtomicInteger queued = new AtomicInteger();

  /** Unsignaled work requests that succeeded since the last completion. */
  private int unreported;

  CompletionReporter(SoftQueuePair queuePair, SoftCompletionQueue queue) {
    this.queuePair = queuePair;
    this.queue = queue;
  }

  /** Occupied entries of the send queue. */
  int queued() {
    return queued.get();
  }

  void posted() {
    queued.incrementAndGet();
  }

  /** Called for each work request, in posting order. */
  void complete(PendingSend send, WorkCompletionStatus status) {
    unreported++;
    if (status == WorkCompletionStatus.SUCCESS && !send.request.signaled()) {
      return;
    }
    completions.add(new Completion(send.request.wrId(), status, queuePair, unreported));
    unreported = 0;
  }

  /**
   * Makes the completions visible to pollers.
   *
   * @return false if they exceed the capacity of the completion queue, which is unusable then
   */
  boolean report() {
    try {
      return completions.isEmpty() || queue.push(completions);
    } finally {
      completions.clear();
    }
  }

  /**
   * Wakes the threads that wait for the reported completions. Called without the queue pair's lock.
   */
  void announce() {
    queue.announce();
  }

  /** Frees the send queue entries of a polled completion. Any thread. */
  void polled(Completion completion) {
    queued.addAndGet(-completion.retired());
  }

  /** Drops all completions that have not been polled. */
  void reset() {
    completions.clear();
    queue.drop(queuePair);
    queued.set(0);
    unreported = 0;
  }

  /** Called when the queue pair is destroyed. */
  void close() {
    queue.detach();
  }
}
