package dev.sluice.rdma.transfer;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * Threads that do a part's work. They keep no process alive, and nothing of the task by which the
 * first one happens to be started.
 */
public final class DaemonThreads {
  private static final long IDLE_SECONDS = 10;

  private DaemonThreads() {}

  public static ThreadFactory named(String name) {
    return daemon().name(name).factory();
  }

  /** Several, each with its number behind the prefix. */
  public static ThreadFactory numbered(String prefix) {
    return daemon().name(prefix, 0).factory();
  }

  private static Thread.Builder.OfPlatform daemon() {
    return Thread.ofPlatform().daemon().inheritInheritableThreadLocals(false);
  }

  /** So many while there is work, which waits beyond that, and none at other times. */
  public static ThreadPoolExecutor atMost(int threads, String name) {
    ThreadPoolExecutor pool =
        new ThreadPoolExecutor(
            threads,
            threads,
            IDLE_SECONDS,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(),
            named(name));
    pool.allowCoreThreadTimeOut(true);
    return pool;
  }

  /**
   * Has them do what there is to do, and end; not beyond the timeout, nor once the caller is
   * interrupted.
   *
   * @return whether that was done
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
