package dev.sluice.rdma.soft;

import dev.sluice.rdma.CompletionQueue;
import dev.sluice.rdma.VerbsException;
import dev.sluice.rdma.WorkCompletions;
import dev.sluice.rdma.leak.LeakTracker;
import java.util.ArrayDeque;
import java.util.List;

/**
 * Completion queue of the software provider. Filled by the event loop and by posting threads with
 * the lock of the completing queue pair held; its own lock is taken inside that one. Events are
 * raised without either. Closed by its creator, or by its device.
 */
final class SoftCompletionQueue implements CompletionQueue {
  private final SoftDevice device;
  private final int capacity;
  private final SoftCompletionChannel channel;
  private final LeakTracker.Handle leak;
  private final ArrayDeque<Completion> completions = new ArrayDeque<>();
  private boolean armed;
  private boolean overrun;
  private boolean closed;
  private int users;

  /** So that polling an empty queue, which is done most often, takes no lock. */
  private volatile boolean somethingToReport;

  /** A completion met the armed queue, and the channel has not been told. */
  private volatile boolean eventDue;

  SoftCompletionQueue(
      SoftDevice device, int capacity, SoftCompletionChannel channel, LeakTracker leaks) {
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
            closed ? "the queue is closed" : "more completions came than the queue holds");
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
   * Appends completions; {@link #announce} is to follow.
   *
   * @return false when there was no room: the queue is lost, and so is the queue pair
   */
  synchronized boolean push(List<Completion> added) {
    if (closed) {
      return true;
    }
    for (Completion completion : added) {
      overrun |= completions.size() == capacity;
      if (!overrun) {
        completions.add(completion);
      }
    }
    if (armed) {
      armed = false;
      eventDue = true;
    }
    somethingToReport = true;
    return !overrun;
  }

  /** Raises the event that a completion has earned. Without the lock of any queue pair. */
  void announce() {
    if (eventDue && takeEvent()) {
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
            "queue pairs use the completion queue");
      }
      closed = true;
      somethingToReport = true;
      completions.clear();
    }
    device.forget(this);
    leak.closed();
  }
}
