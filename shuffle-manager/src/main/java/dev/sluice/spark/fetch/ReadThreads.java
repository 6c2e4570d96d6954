// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.fetch;

import dev.sluice.rdma.transfer.DaemonThreads;
import dev.sluice.rdma.transfer.DaemonThreads.EnsuredPool;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/**
 * Threads of an executor's reading side. A few of them, for any number of peers, tasks and blocks,
 * verify and deliver. Others run the calls of Spark's client that block
 * while they connect, so that an unreachable peer delays only its own blocks. The {@link
 * ShuffleClient} that starts the threads ends them.
 *
 * @param blocking runs steps that may block
 * @param end lets running steps end, without waiting; later steps run on the caller's thread
 */
record ReadThreads(DeadlineTimer timer, Executor deliverer, Executor blocking, Runnable end) {
  /** A quarter of the cores: one core computes Spark's checksums at some 2 GB/s. */
  private static final int DELIVERERS =
      Math.clamp(Runtime.getRuntime().availableProcessors() / 4, 2, 8);

  /**
   * @param timer the process's timer, which handles deadlines
   */
  static ReadThreads start(ScheduledExecutorService timer) {
    EnsuredPool deliverer = new EnsuredPool(DELIVERERS, DaemonThreads.numbered("sluice-deliver-"));
    ExecutorService blocking = DaemonThreads.forBlocking("sluice-fallback-");
    return new ReadThreads(
        new Deadlines(timer),
        deliverer,
        blocking,
        () -> {
          deliverer.stop(0);
          blocking.shutdown();
        });
  }

  private record Deadlines(ScheduledExecutorService timer) implements DeadlineTimer {
    @Override
    public long nanoTime() {
      return System.nanoTime();
    }

    @Override
    public Future<?> schedule(Runnable task, long delayNanos) {
      return timer.schedule(task, delayNanos, TimeUnit.NANOSECONDS);
    }
  }

  /**
   * Clock and timer of deadlines, for all fetches of an executor. {@link ReadThreads} implements it
   * by the process's timer, which a task must not hold up; any thread may call it. Tests replace
   * it.
   */
  interface DeadlineTimer {
    /**
     * Returns the time of {@link System#nanoTime}, the clock of the transfer engine's deadlines.
     */
    long nanoTime();

    /**
     * Runs a short task once after a delay, unless it is cancelled.
     *
     * @throws java.util.concurrent.RejectedExecutionException when the process's parts are closed
     */
    Future<?> schedule(Runnable task, long delayNanos);
  }
}
