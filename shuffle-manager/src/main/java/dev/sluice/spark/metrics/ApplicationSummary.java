// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.metrics;

import dev.sluice.spark.locate.DirectoryMessage.Report;
import java.util.Map;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.apache.spark.executor.ShuffleReadMetrics;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerTaskEnd;

/**
 * Logs the lines about the whole application at its end, on the driver. Executors report a moment
 * after their tasks, and the application may end at once. The lines therefore wait a little until
 * the reports have as many blocks as Spark's own task metrics.
 *
 * <p>{@code DriverRuntime} makes it. Spark's listener bus calls {@link #onTaskEnd}, the location
 * directory's thread {@link #accept}, with the directory's lock, and the thread that stops the
 * context {@link #say}. Before that the queue of the event log calls {@link #awaitReports}. Only
 * these two wait, both within one limit. Nothing to close.
 */
public final class ApplicationSummary extends SparkListener {
  /** Limit of the wait. Lost executors never report, so their applications end this much later. */
  private static final long REPORTS_TIMEOUT_MS = 1_000;

  private final ApplicationTotals totals;
  private final Consumer<String> log;

  /** Blocks that ended tasks have fetched, by Spark's metrics; guarded by this. */
  private long fetchedBlocks;

  /** Time when all waits end; empty before the first one. Guarded by this. */
  private OptionalLong deadlineNanos = OptionalLong.empty();

  /**
   * @param log takes each line
   */
  public ApplicationSummary(ApplicationTotals totals, Consumer<String> log) {
    this.totals = totals;
    this.log = log;
  }

  /** Takes an executor's report. */
  public synchronized void accept(Report report) {
    totals.accept(report);
    notifyAll();
  }

  @Override
  public synchronized void onTaskEnd(SparkListenerTaskEnd end) {
    fetched(fetchedBlocks(end));
  }

  /** Returns the blocks that the task has fetched, by Spark's metrics. */
  public static long fetchedBlocks(SparkListenerTaskEnd end) {
    return end.taskMetrics() == null ? 0 : requested(end.taskMetrics().shuffleReadMetrics());
  }

  /** Returns requested blocks. Spark counts a merged chunk's blocks, but requests the chunk. */
  private static long requested(ShuffleReadMetrics metrics) {
    return metrics.totalBlocksFetched()
        - metrics.remoteMergedBlocksFetched()
        + metrics.remoteMergedChunksFetched();
  }

  synchronized void fetched(long blocks) {
    fetchedBlocks += blocks;
  }

  /** Logs the lines. Called after all listeners have been told of all tasks. */
  public synchronized void say() {
    Map<String, Long> counted = awaitReports(fetchedBlocks);
    log.accept(RemoteBytes.line(counted));
    long missing = fetchedBlocks - ShuffleCounters.blocks(counted);
    String line = "Shuffle blocks of the application: " + ExecutorMetrics.summary(counted);
    log.accept(
        missing > 0
            ? line + "; and " + missing + " of executors that ended before they had reported"
            : line);
  }

  /**
   * Waits until the reports have so many blocks, or the time of the first wait is over. Gives this
   * object's lock up meanwhile.
   *
   * @return the sums of the counters
   */
  public synchronized Map<String, Long> awaitReports(long blocks) {
    if (deadlineNanos.isEmpty()) {
      deadlineNanos =
          OptionalLong.of(System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(REPORTS_TIMEOUT_MS));
    }
    Map<String, Long> counted = totals.totals();
    long leftNanos = deadlineNanos.getAsLong() - System.nanoTime();
    try {
      while (ShuffleCounters.blocks(counted) < blocks && leftNanos > 0) {
        TimeUnit.NANOSECONDS.timedWait(this, leftNanos);
        counted = totals.totals();
        leftNanos = deadlineNanos.getAsLong() - System.nanoTime();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    return counted;
  }
}
