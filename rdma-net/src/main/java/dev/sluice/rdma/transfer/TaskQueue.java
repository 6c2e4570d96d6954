// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.transfer;

import dev.sluice.rdma.TaskFailures;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs other threads' tasks on the engine's thread, in order. Wakes that thread only if it sleeps.
 *
 * <p>An {@link RdmaEndpoint} creates one. Any thread executes; the engine's thread runs the tasks
 * and closes the queue. A task that is added after that runs on the thread that adds it, and must
 * only decline.
 */
final class TaskQueue implements Executor {
  private static final Logger LOG = LoggerFactory.getLogger(TaskQueue.class);

  /** A task, which is also its own link in the queue. It is in at most one queue at a time. */
  abstract static class Task {
    private @Nullable Task next;

    abstract void run();
  }

  /** Task that was added last, linked to the earlier ones. */
  private final AtomicReference<@Nullable Task> newest = new AtomicReference<>();

  private final AtomicBoolean asleep = new AtomicBoolean();
  private final Counters<TransferCounter> counters;
  private final Runnable waker;
  private volatile boolean closed;

  TaskQueue(Counters<TransferCounter> counters, Runnable waker) {
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

  /**
   * Runs all queued tasks. If a task throws, the exception is logged and the others run.
   *
   * @return number of tasks
   */
  int runAll() {
    int count = 0;
    Task task = newest.get() == null ? null : oldestFirst(newest.getAndSet(null));
    while (task != null) {
      Task next = task.next;
      task.next = null;
      try {
        task.run(); // Afterwards the task may be in the queue again.
      } catch (RuntimeException | Error e) {
        TaskFailures.log(LOG, "A task of the read engine failed", e);
      }
      task = next;
      count++;
    }
    return count;
  }

  private static @Nullable Task oldestFirst(@Nullable Task last) {
    Task first = null;
    for (Task task = last; task != null; ) {
      Task before = task.next;
      task.next = first;
      first = task;
      task = before;
    }
    return first;
  }

  /** Makes new tasks wake the engine's thread, which must check for tasks once more. */
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
