package dev.sluice.rdma.soft;

import dev.sluice.rdma.WorkCompletionStatus;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Takes what completes on a queue pair to its completion queue, and counts the places of its send
 * queue that are taken: one is free again when its completion has been polled.
 *
 * <p>Completions are held back until the lock of the queue pair is given up, so that all that came
 * in one turn of the event loop cost one visit to the completion queue and wake its reader once,
 * when the lock that the reader posts under is free. Everything but {@link #polled} and {@link
 * #announce} is called with that lock held.
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

  /** Places that are taken. */
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
   * Makes what completed visible to those who poll.
   *
   * @return false when it was more than the completion queue holds: that queue is lost
   */
  boolean report() {
    boolean kept = completions.isEmpty() || queue.push(completions);
    completions.clear();
    return kept;
  }

  /** Wakes those who wait for what was reported. Without the lock of the queue pair. */
  void announce() {
    queue.announce();
  }

  /** A completion was polled: its places in the send queue are free. Any thread. */
  void polled(Completion completion) {
    queued.addAndGet(-completion.retired());
  }

  /** Forgets everything that has not been polled. */
  void reset() {
    completions.clear();
    queue.drop(queuePair);
    queued.set(0);
    unreported = 0;
  }

  /** The queue pair is destroyed. */
  void close() {
    queue.detach();
  }
}
