package dev.sluice.rdma.transfer;

import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Where queue pairs are created, connected and destroyed. Each step is a command of the device, and
 * one of them may take a second: on RoCE ibv_modify_qp(3) to RTR waits until the peer's address is
 * resolved. So it is done side by side, and neither by the thread that completions wait for nor by
 * the control channel's.
 *
 * <p>There are some while something is connected and none at other times. Any thread executes; the
 * endpoint stops it. What comes after that runs on the thread that brings it.
 */
final class ConnectThreads implements Executor {
  /** So many peers that cannot be reached hold up no other one. */
  private static final int MAX_THREADS = 32;

  private static final long KEEP_ALIVE_SECONDS = 5;

  private final AtomicInteger started = new AtomicInteger();
  private final ThreadPoolExecutor threads =
      new ThreadPoolExecutor(
          MAX_THREADS,
          MAX_THREADS,
          KEEP_ALIVE_SECONDS,
          TimeUnit.SECONDS,
          new LinkedBlockingQueue<>(),
          this::newThread,
          (task, pool) -> task.run());

  ConnectThreads() {
    threads.allowCoreThreadTimeOut(true);
  }

  private Thread newThread(Runnable task) {
    return Thread.ofPlatform()
        .daemon()
        .name("sluice-connect-" + started.incrementAndGet())
        .unstarted(task);
  }

  @Override
  public void execute(Runnable task) {
    threads.execute(task);
  }

  /**
   * Does what there is to do, and ends the threads.
   *
   * @return whether that was done in time
   */
  boolean stop(long timeoutMs) {
    return DaemonThreads.stop(threads, timeoutMs);
  }
}
