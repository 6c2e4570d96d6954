package dev.sluice.spark.read;

import java.util.concurrent.Future;

/** The time that deadlines are measured in, so that tests can set it. */
interface DeadlineTimer {
  /** As {@link System#nanoTime}, which the transfer engine's deadlines are given in. */
  long nanoTime();

  /**
   * Runs a short task once after a delay, unless it is cancelled.
   *
   * @throws java.util.concurrent.RejectedExecutionException when the client is closed
   */
  Future<?> schedule(Runnable task, long delayNanos);
}
