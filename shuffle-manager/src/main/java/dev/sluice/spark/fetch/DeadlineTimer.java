// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.fetch;

import java.util.concurrent.Future;

/**
 * Clock and timer of deadlines, for all fetches of an executor. {@link ReadThreads} implements it
 * by one thread, which a task must not hold up; any thread may call it. Tests replace it.
 */
interface DeadlineTimer {
  /** Returns the time of {@link System#nanoTime}, the clock of the transfer engine's deadlines. */
  long nanoTime();

  /**
   * Runs a short task once after a delay, unless it is cancelled.
   *
   * @throws java.util.concurrent.RejectedExecutionException when the client is closed
   */
  Future<?> schedule(Runnable task, long delayNanos);
}
