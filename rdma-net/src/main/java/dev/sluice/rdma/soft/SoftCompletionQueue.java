// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.soft;

import dev.sluice.rdma.CompletionQueue;
import dev.sluice.rdma.WorkCompletionStatus;
import dev.sluice.rdma.WorkCompletions;
import dev.sluice.rdma.leak.LeakTracker;
import dev.sluice.verbs.VerbsException;
import java.util.ArrayDeque;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Completion queue of a {@link SoftDevice}, which creates it. The event loop and posting threads
 * fill it under the lock of the completing queue pair; its own lock is taken inside that one, and
 * guards all fields that change. Events are raised without either lock. Closed by its user or its
 * device.
 */
final class SoftCompletionQueue implements CompletionQueue {
  private final SoftDevice device;
  private final int capacity;
  private final @Nullable SoftCompletionChannel channel;
  private final LeakTracker.Handle leak;
  private final ArrayDeque<Completion> completions = new ArrayDeque<>();
  private boolean armed;
  private boolean overrun;
  private boolean closed;
  private int users;

  /**
   * False if a poll finds nothing. Polling an empty queue, the most frequent case, takes no lock.
   */
  private volatile boolean somethingToReport;

  /** True if a completion met the armed queue, and the channel has not been signalled yet. */
  private volatile boolean eventDue;

  SoftCompletionQueue(
      SoftDevice device, int capacity, @Nullable SoftCompletionChannel channel, LeakTracker leaks) {
    this.device = device;
    this.capacity = capacity;
    this.channel = channel;
    leak = leaks.opened("completion queue", "of " + capacity + " entries of " + device);
  }

  @Override
  public int capacity() {
    return capacity;
  }

  @Override
  public int poll(WorkCompletions into) throws VerbsException {
    into.clear();
    if (!somethingToReport) {
      return 0;
    }
    synchronized (this) {
      if (overrun || closed) {
        throw new VerbsException(
            "ibv_poll_cq(capacity=" + capacity + ")",
            VerbsException.EIO,
            closed
                ? "the queue is closed"
                : "completions were lost: the queue, or the heap, was full");
      }
      while (into.size() < into.capacity() && !completions.isEmpty()) {
        completions.poll().moveTo(into);
      }
      somethingToReport = !completions.isEmpty();
    }
    return into.size();
  }

  @Override
  public synchronized void requestNotify() throws VerbsException {
    if (channel == null) {
      throw new VerbsException(
          "ibv_req_notify_cq", VerbsException.EINVAL, "the queue has no completion channel");
    }
    armed = true;
  }

  /**
   * Appends completions. The caller then has to call {@link #announce}.
   *
   * @return false if there was no room: this queue and the queue pair are unusable then
   */
  synchronized boolean push(List<Completion> added) {
    if (closed) {
      return true;
    }
    try {
      for (Completion completion : added) {
        overrun |= completions.size() == capacity;
        if (!overrun) {
          completions.add(completion);
        }
      }
    } catch (OutOfMemoryError e) { // a completion is lost, so the queue is unusable
      overrun = true;
    }
    if (armed) {
      armed = false;
      eventDue = true;
    }
    somethingToReport = true;
    return !overrun;
  }

  /** Raises an event if one is due. Called without the lock of any queue pair. */
  void announce() {
    if (channel != null && eventDue && takeEvent()) {
      channel.signal();
    }
  }

  private synchronized boolean takeEvent() {
    boolean due = eventDue;
    eventDue = false;
    return due;
  }

  /** Drops the completions of a queue pair that is destroyed or reset. */
  synchronized void drop(SoftQueuePair owner) {
    completions.removeIf(completion -> completion.owner() == owner);
    somethingToReport = overrun || closed || !completions.isEmpty();
  }

  synchronized void attach() throws VerbsException {
    if (closed) {
      throw new VerbsException(
          "ibv_create_qp", VerbsException.EINVAL, "the completion queue is closed");
    }
    users++;
  }

  synchronized void detach() {
    users--;
  }

  boolean belongsTo(SoftDevice other) {
    return device == other;
  }

  @Override
  public void close() throws VerbsException {
    synchronized (this) {
      if (closed) {
        return;
      }
      if (users > 0) {
        throw new VerbsException(
            "ibv_destroy_cq(capacity=" + capacity + ")",
            VerbsException.EBUSY,
            "queue pairs still use the completion queue");
      }
      closed = true;
      somethingToReport = true;
      completions.clear();
    }
    device.forget(this);
    leak.closed();
  }

  /**
   * A work completion in a completion queue. {@link CompletionReporter} makes it under the queue
   * pair's lock; {@link SoftCompletionQueue} moves it to the thread that polls. Immutable.
   *
   * @param owner queue pair whose work request completed
   * @param retired entries of the send queue that become free once this completion is polled: its
   *     own and those of the unsignaled work requests before it
   */
  record Completion(long wrId, WorkCompletionStatus status, SoftQueuePair owner, int retired) {

    void moveTo(WorkCompletions into) {
      into.add(wrId, status, owner.qpNumber(), 0);
      owner.polled(this);
    }
  }
}
