package dev.sluice.rdma.transfer;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
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

  private final Queue<Runnable> tasks = new ConcurrentLinkedQueue<>();
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
    tasks.add(task);
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
    Runnable task;
    while ((task = tasks.poll()) != null) {
      try {
        task.run();
      } catch (RuntimeException e) {
        LOG.error("A task of the read engine failed", e);
      }
      count++;
    }
    return count;
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
