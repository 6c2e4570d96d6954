// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.fetch;

import dev.sluice.rdma.transfer.DaemonThreads;
import dev.sluice.rdma.transfer.DaemonThreads.EnsuredPool;
import java.util.concurrent.Executor;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/**
 * Threads of an executor's reading side. A few of them, for any number of peers, tasks and blocks,
 * verify and deliver. The process's timer handles deadlines, and its executor for blocking steps
 * runs the calls of Spark's client, which block while they connect: an unreachable peer delays only
 * its own blocks. The {@link ShuffleClient} that starts the delivering threads ends them.
 *
 * @param end lets running deliveries end, without waiting; later ones run on the caller's thread
 */
record ReadThreads(DeadlineTimer timer, Executor deliverer, Executor blocking, Runnable end) {
  /** A quarter of the cores: one core computes Spark's checksums at some 2 GB/s. */
  private static final int DELIVERERS =
      Math.clamp(Runtime.getRuntime().availableProcessors() / 4, 2, 8);

  static ReadThreads start(ScheduledExecutorService timer, Executor blocking) {
    EnsuredPool deliverer = new EnsuredPool(DELIVERERS, DaemonThreads.numbered("sluice-deliver-"));
    return new ReadThreads(new Deadlines(timer), deliverer, blocking, () -> deliverer.stop(0));
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
