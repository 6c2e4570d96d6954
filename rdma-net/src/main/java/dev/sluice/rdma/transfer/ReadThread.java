// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.transfer;

import dev.sluice.rdma.CompletionChannel;
import dev.sluice.rdma.CompletionQueue;
import dev.sluice.rdma.TaskFailures;
import dev.sluice.verbs.VerbsException;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The one thread of a device's READs. Runs the {@link ReadEngine}, and decides when to spin and
 * when to sleep. It survives every error of the engine.
 *
 * <p>It spins only while READs are outstanding. Each spin in vain halves the next one, since the
 * other side may need the same core. The endpoint starts and stops it; {@link #stop} makes this
 * thread close the engine.
 */
final class ReadThread {
  private static final Logger LOG = LoggerFactory.getLogger(ReadThread.class);

  /** The shortest spin is this fraction of the longest. */
  private static final int MIN_SPIN_SHARE = 64;

  /** Keeps an error that lasts from taking a whole processor. */
  private static final long PAUSE_AFTER_ERROR_MS = 10;

  private final ReadEngine engine;
  private final TaskQueue tasks;
  private final CompletionQueue completionQueue;
  private final CompletionChannel channel;
  private final Counters<TransferCounter> counters;
  private final long maxSpinNanos;
  private final Thread thread;

  /** Length of the next spin; this thread only. */
  private long spinNanos;

  private volatile boolean stopping;

  ReadThread(
      ReadEngine engine,
      TaskQueue tasks,
      CompletionQueue completionQueue,
      CompletionChannel channel,
      Counters<TransferCounter> counters,
      int spinMicros,
      ThreadFactory threads) {
    this.engine = engine;
    this.tasks = tasks;
    this.completionQueue = completionQueue;
    this.channel = channel;
    this.counters = counters;
    this.maxSpinNanos = TimeUnit.MICROSECONDS.toNanos(spinMicros);
    this.spinNanos = maxSpinNanos;
    this.thread = threads.newThread(this::run);
  }

  void start() {
    thread.start();
  }

  /**
   * Ends the thread.
   *
   * @return true if it ended in time
   */
  boolean stop(long timeoutMs) {
    stopping = true;
    channel.wakeUp();
    if (Thread.currentThread() == thread) {
      return false; // A listener closes the endpoint: the thread ends after it.
    }
    try {
      thread.join(timeoutMs);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    return !thread.isAlive();
  }

  private void run() {
    while (!stopping) {
      try {
        work();
      } catch (VerbsException | RuntimeException | Error e) {
        TaskFailures.log(LOG, "A turn of the read engine failed; the engine continues", e);
        channel.await(PAUSE_AFTER_ERROR_MS);
      }
    }
    try {
      engine.close();
    } catch (RuntimeException | Error e) {
      TaskFailures.log(LOG, "Closing the read engine failed", e);
    }
  }

  private void work() throws VerbsException {
    if (engine.doWork() == 0 && !spin()) {
      sleep();
    }
  }

  /**
   * @return true if there was work before the time was over
   */
  private boolean spin() {
    if (!engine.isReading() || maxSpinNanos == 0) {
      return false;
    }
    long start = System.nanoTime();
    while (System.nanoTime() - start < spinNanos) {
      Thread.onSpinWait();
      if (engine.doWork() > 0) {
        spinNanos = maxSpinNanos;
        return true;
      }
    }
    spinNanos = Math.max(maxSpinNanos / MIN_SPIN_SHARE, spinNanos / 2);
    return false;
  }

  private void sleep() throws VerbsException {
    tasks.fallAsleep();
    try {
      if (engine.isReading()) {
        completionQueue.requestNotify();
      }
      // Tasks and completions that arrived before the queues were armed raised no event.
      if (engine.doWork() == 0) {
        counters.increment(TransferCounter.SLEEPS);
        channel.await(TimeUnit.NANOSECONDS.toMillis(engine.nanosToNextTick()) + 1);
      }
    } finally {
      tasks.wokeUp();
    }
  }
}
