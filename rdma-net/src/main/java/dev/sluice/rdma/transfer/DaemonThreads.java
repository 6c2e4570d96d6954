// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.transfer;

import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Daemon threads for the parts of Sluice. They inherit nothing from the thread that starts them: no
 * thread locals, and their context class loader is that of Sluice's jar. A jar given by --jars is
 * unknown to the system class loader. Any thread makes them; the part that asked for a pool stops
 * it.
 */
public final class DaemonThreads {
  /** Time without a task after which a thread of a pool ends. */
  private static final long IDLE_SECONDS = 10;

  /**
   * False if virtual threads that wait for a monitor hold their carriers: as many as the machine
   * has processors then stop all others (JEP 491, JDK 24).
   */
  private static final boolean VIRTUAL = Runtime.version().feature() >= 24;

  /** Limit of threads that block at a time where they are not virtual. */
  private static final int MAX_BLOCKED = 256;

  private DaemonThreads() {}

  public static ThreadFactory named(String name) {
    return withOwnLoader(daemon().name(name));
  }

  /**
   * Makes the timer of a process, which all its parts share. A task must be short: it waits neither
   * for a disk or a peer nor for a lock that another thread holds while it waits for one.
   */
  public static ScheduledExecutorService timer() {
    ScheduledThreadPoolExecutor timer = new ScheduledThreadPoolExecutor(1, named("sluice-timer"));
    timer.setRemoveOnCancelPolicy(true); // Nearly all deadlines are cancelled.
    return timer;
  }

  /** Makes several threads, named by the prefix and a number. */
  public static ThreadFactory numbered(String prefix) {
    return withOwnLoader(daemon().name(prefix, 0));
  }

  /**
   * Makes the executor of a process for steps that may block for long, such as a connection to a
   * peer that does not answer. Each step has a virtual thread; before JDK 24 up to 256 at a time
   * have a thread, and further ones wait.
   */
  public static ExecutorService blocking() {
    Thread.Builder builder =
        VIRTUAL ? Thread.ofVirtual().inheritInheritableThreadLocals(false) : daemon();
    ThreadFactory factory = withOwnLoader(builder.name("sluice-blocking-", 0));
    return VIRTUAL ? Executors.newThreadPerTaskExecutor(factory) : atMost(MAX_BLOCKED, factory);
  }

  private static Thread.Builder.OfPlatform daemon() {
    return Thread.ofPlatform().daemon().inheritInheritableThreadLocals(false);
  }

  private static ThreadFactory withOwnLoader(Thread.Builder builder) {
    ThreadFactory factory = builder.factory();
    return work -> {
      Thread thread = factory.newThread(work);
      thread.setContextClassLoader(DaemonThreads.class.getClassLoader());
      return thread;
    };
  }

  /**
   * Makes a pool that starts a thread for each task up to a limit, and queues tasks beyond it. Its
   * threads end when they are idle. Where the system gives no further thread, a task waits for
   * those that run.
   */
  public static ThreadPoolExecutor atMost(int threads, String name) {
    return atMost(threads, named(name));
  }

  /** Makes the same pool with threads of a factory. */
  static ThreadPoolExecutor atMost(int threads, ThreadFactory factory) {
    return new Pool(threads, factory);
  }

  private static final class Pool extends ThreadPoolExecutor {
    Pool(int threads, ThreadFactory factory) {
      super(threads, threads, IDLE_SECONDS, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), factory);
      allowCoreThreadTimeOut(true);
    }

    /**
     * Executes a task.
     *
     * @throws OutOfMemoryError if the pool has no thread and the system gives none
     */
    @Override
    public void execute(Runnable task) {
      try {
        super.execute(task);
      } catch (OutOfMemoryError e) {
        getQueue().remove(task); // It may have been queued before its thread could not start.
        if (!leaveToOthers(task)) {
          throw e;
        }
      }
    }

    /**
     * Queues a task for the running threads. If the last one ends meanwhile, it checks the queue
     * after it has left the pool. A pool that is empty after queueing may miss the task, which is
     * taken back.
     */
    private boolean leaveToOthers(Runnable task) {
      return getPoolSize() > 0
          && getQueue().offer(task)
          && (getPoolSize() > 0 || !getQueue().remove(task));
    }
  }

  /**
   * Pool of {@link #atMost} for tasks that have to run, such as to close a queue pair or to answer
   * a block. A task runs on its caller's thread if the system gives no thread at all, and after the
   * pool was stopped. Any thread executes; the owner stops it.
   */
  public static final class EnsuredPool implements Executor {
    private static final Logger LOG = LoggerFactory.getLogger(EnsuredPool.class);

    private final ThreadPoolExecutor threads;

    /** Read lock: a task on its caller's thread, because the system gave none. */
    private final ReadWriteLock callers = new ReentrantReadWriteLock();

    private final AtomicBoolean warned = new AtomicBoolean();

    public EnsuredPool(int threads, ThreadFactory factory) {
      this.threads = atMost(threads, factory);
    }

    @Override
    public void execute(Runnable task) {
      try {
        threads.execute(task);
      } catch (RejectedExecutionException _) { // The threads are stopped.
        task.run();
      } catch (OutOfMemoryError e) {
        if (warned.compareAndSet(false, true)) {
          LOG.warn(
              "Starting a thread failed; thread {} does its work. Further failures are not logged",
              Thread.currentThread(),
              e);
        }
        callers.readLock().lock();
        try {
          task.run();
        } finally {
          callers.readLock().unlock();
        }
      }
    }

    /**
     * Runs the queued tasks, then ends the threads. Waits for tasks on their callers' threads, too.
     *
     * @return true if all tasks ended in time
     */
    public boolean stop(long timeoutMs) {
      return DaemonThreads.stop(threads, timeoutMs) && awaitCallers(timeoutMs);
    }

    private boolean awaitCallers(long timeoutMs) {
      Lock none = callers.writeLock();
      boolean ended = false;
      try {
        ended = none.tryLock() || none.tryLock(timeoutMs, TimeUnit.MILLISECONDS);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
      if (ended) {
        none.unlock();
      }
      return ended;
    }
  }

  /**
   * Runs the queued tasks, then ends the threads. Waits until the timeout, or until the caller is
   * interrupted.
   *
   * @return true if all tasks ended
   */
  public static boolean stop(ExecutorService threads, long timeoutMs) {
    threads.shutdown();
    try {
      return threads.awaitTermination(timeoutMs, TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return threads.isTerminated();
    }
  }
}
