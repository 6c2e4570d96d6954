// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.soft;

import dev.sluice.rdma.TaskFailures;
import dev.sluice.rdma.leak.LeakTracker;
import dev.sluice.rdma.soft.FrameBatch.FrameBuffers;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedSelectorException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A thread of a software device that moves the bytes of its connections and runs their timers.
 * Owned and closed by {@link EventLoops}. Handlers, tasks and timers run on its thread and must not
 * wait.
 */
final class EventLoop implements AutoCloseable {
  /** The attachment of a selection key. */
  interface Handler {
    /** Called on the loop's thread when the channel is ready. Must not wait. */
    void ready(SelectionKey key);
  }

  /** Work that is due at some time. */
  interface Timer {
    /**
     * Called on the loop's thread when a time passed to {@link #schedule} has come.
     *
     * @param now as {@link #now}
     * @return the next time, or {@link #NEVER}
     */
    long expire(EventLoop loop, long now);
  }

  /** The time of a timer that is not set. */
  static final long NEVER = Long.MAX_VALUE;

  private static final Logger LOG = LoggerFactory.getLogger(EventLoop.class);
  private static final int STAGING_BYTES = 256 << 10;
  private static final long CLOSE_TIMEOUT_MS = 10_000;

  /** Pause before the loop calls a timer again that threw an exception. */
  private static final long TIMER_AGAIN_NANOS = 100_000_000L;

  private final long startNanos = System.nanoTime();
  private final ByteBuffer staging = ByteBuffer.allocateDirect(STAGING_BYTES);
  private final FrameBuffers frameBuffers = new FrameBuffers();
  private final Queue<Runnable> tasks = new ConcurrentLinkedQueue<>();
  private final AtomicLong nextTimer = new AtomicLong(NEVER);
  private final Timer timer;
  private final Selector selector;
  private final Thread thread;
  private final LeakTracker.Handle leak;
  private volatile boolean closed;

  EventLoop(ThreadFactory threads, Timer timer, LeakTracker leaks) throws IOException {
    this.timer = timer;
    selector = Selector.open();
    thread = threads.newThread(this::run);
    leak = leaks.opened("thread", thread.getName());
  }

  void start() {
    thread.start();
  }

  /** Nanoseconds since the creation of the loop: a clock that can be compared without overflow. */
  long now() {
    return System.nanoTime() - startNanos;
  }

  Thread thread() {
    return thread;
  }

  boolean isCurrent() {
    return Thread.currentThread() == thread;
  }

  Selector selector() {
    return selector;
  }

  /** Buffer for bytes that the loop's thread receives; empty between two handlers. */
  ByteBuffer staging() {
    return staging;
  }

  /** Buffers for frames that the loop's connections send. */
  FrameBuffers frameBuffers() {
    return frameBuffers;
  }

  /** Runs a task on the loop's thread soon. Any thread. */
  void execute(Runnable task) {
    tasks.add(task);
    selector.wakeup();
  }

  /** Makes the loop notice a change of interest in a channel, or a closed channel. */
  void wakeUp() {
    if (!isCurrent()) {
      selector.wakeup();
    }
  }

  /** Calls the timer at {@code atNanos} or before. Any thread. */
  void schedule(long atNanos) {
    if (atNanos < nextTimer.get() && atNanos < nextTimer.getAndAccumulate(atNanos, Math::min)) {
      wakeUp();
    }
  }

  private void run() {
    while (!closed) {
      try {
        selector.select(this::dispatch, selectTimeoutMs());
        runTasks();
        runTimer();
      } catch (ClosedSelectorException e) {
        return;
      } catch (IOException | RuntimeException | Error e) {
        logFailure(e);
      }
    }
  }

  /** Returns 0, which the selector takes as infinite, only if no timer is set. */
  private long selectTimeoutMs() {
    long at = nextTimer.get();
    return at == NEVER ? 0 : Math.max(1, TimeUnit.NANOSECONDS.toMillis(at - now() + 999_999));
  }

  private void dispatch(SelectionKey key) {
    try {
      ((Handler) key.attachment()).ready(key);
    } catch (RuntimeException | Error e) {
      logFailure(e);
    }
  }

  /** Logs and goes on: without this thread, every queue pair of the loop would hang. */
  private void logFailure(Throwable e) {
    TaskFailures.log(LOG, "{}: a task of the event loop failed", thread.getName(), e);
  }

  private void runTasks() {
    for (Runnable task = tasks.poll(); task != null; task = tasks.poll()) {
      try {
        task.run();
      } catch (RuntimeException | Error e) {
        logFailure(e);
      }
    }
  }

  private void runTimer() {
    long now = now();
    if (now >= nextTimer.get()) {
      nextTimer.set(NEVER);
      long next = now + TIMER_AGAIN_NANOS;
      try {
        next = timer.expire(this, now);
      } finally {
        schedule(next);
      }
    }
  }

  @Override
  public void close() {
    closed = true;
    selector.wakeup();
    try {
      if (thread.isAlive() && !thread.join(Duration.ofMillis(CLOSE_TIMEOUT_MS))) {
        LOG.warn("{} did not end within {} ms", thread.getName(), CLOSE_TIMEOUT_MS);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    runTasks(); // a task may hold a socket that has to be closed
    try {
      selector.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    leak.closed();
  }

  /**
   * The event loops of a software device. A queue pair stays with one loop, so that a file on a
   * slow disk delays the queue pairs of that loop only. Any thread; closed by the device.
   */
  static final class EventLoops implements AutoCloseable {
    /** A slow file blocks one loop; another one remains. */
    private static final int MIN_LOOPS = 2;

    /** The limit of Spark's own transfer, NettyUtils.MAX_DEFAULT_NETTY_THREADS. */
    private static final int MAX_LOOPS = 8;

    private final List<EventLoop> loops = new ArrayList<>();
    private final AtomicInteger given = new AtomicInteger();

    /**
     * @param timer of every loop
     * @param threads makes the threads of the loops
     */
    EventLoops(EventLoop.Timer timer, LeakTracker leaks, ThreadFactory threads) throws IOException {
      int processors = Runtime.getRuntime().availableProcessors();
      int count = Math.clamp(processors, MIN_LOOPS, MAX_LOOPS);
      try {
        for (int i = 0; i < count; i++) {
          loops.add(new EventLoop(threads, timer, leaks));
        }
      } catch (IOException | RuntimeException | Error e) {
        close();
        throw e;
      }
    }

    void start() {
      loops.forEach(EventLoop::start);
    }

    /** The loop that also has the listening socket. */
    EventLoop first() {
      return loops.getFirst();
    }

    /** The loop for a new queue pair. */
    EventLoop next() {
      return loops.get(Math.floorMod(given.getAndIncrement(), loops.size()));
    }

    @Override
    public void close() {
      loops.forEach(EventLoop::close);
    }
  }
}
