package dev.sluice.rdma.transfer;

import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Brings what other threads want done onto the engine's thread, in order, and wakes that thread
 * only when it sleeps.
 *
 * <p>Any thread executes; the engine's thread runs the tasks and closes it. Tasks that come after
 * that run on the thread that brings them, and must only decline.
 */
final class TaskQueue implements Executor {
  private static final Logger LOG = LoggerFactory.getLogger(TaskQueue.class);

  /** What is to be done. It is its own link in the queue, of which it is in one at a time. */
  abstract static class Task {
    private Task next;

    abstract void run();
  }

  /** The task that came last, linked to those before it. */
  private final AtomicReference<Task> newest = new AtomicReference<>();

  private final AtomicBoolean asleep = new AtomicBoolean();
  private final TransferCounters counters;
  private final Runnable waker;
  private volatile boolean closed;

  TaskQueue(TransferCounters counters, Runnable waker) {
    this.counters = counters;
    this.waker = waker;
  }

  @Override
  public void execute(Runnable task) {
    add(
        new Task() {
          @Override
          void run() {
            task.run();
          }
        });
  }

  void add(Task task) {
    Task last = newest.get();
    task.next = last;
    while (!newest.compareAndSet(last, task)) {
      last = newest.get();
      task.next = last;
    }
    if (closed) {
      runAll();
    } else if (asleep.get() && asleep.compareAndSet(true, false)) {
      counters.increment(TransferCounter.WAKE_UPS);
      waker.run();
    }
  }

  /** Runs what there is, and returns how many tasks that were. */
  int runAll() {
    int count = 0;
    Task task = newest.get() == null ? null : oldestFirst(newest.getAndSet(null));
    while (task != null) {
      Task next = task.next;
      task.next = null;
      try {
        task.run(); // after which it may be in the queue again
      } catch (RuntimeException e) {
        LOG.error("A task of the read engine failed", e);
      }
      task = next;
      count++;
    }
    return count;
  }

  private static Task oldestFirst(Task last) {
    Task first = null;
    for (Task task = last; task != null; ) {
      Task before = task.next;
      task.next = first;
      first = task;
      task = before;
    }
    return first;
  }

  /** From now on a task wakes the engine's thread, which must look for tasks once more. */
  void fallAsleep() {
    asleep.set(true);
  }

  void wokeUp() {
    asleep.set(false);
  }

  void close() {
    closed = true;
    runAll();
  }
}
