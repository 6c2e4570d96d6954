package dev.sluice.benchmarks.terasort;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerJobEnd;
import org.apache.spark.scheduler.SparkListenerJobStart;
import org.apache.spark.scheduler.SparkListenerTaskEnd;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Sums over the tasks of the one job of a sort, from Spark's own task metrics. Spark's listener
 * thread calls it; the sums are complete after {@link #awaitJobEnd}.
 */
final class TaskTotals extends SparkListener {
  private final Progress progress;
  private final AtomicLong remoteBytes = new AtomicLong();
  private final CountDownLatch jobEnd = new CountDownLatch(1);

  TaskTotals(Progress progress) {
    this.progress = progress;
  }

  @Override
  public void onJobStart(SparkListenerJobStart event) {
    int tasks =
        CollectionConverters.asJava(event.stageInfos()).stream()
            .mapToInt(stage -> stage.numTasks())
            .sum();
    progress.start(tasks);
  }

  @Override
  public void onTaskEnd(SparkListenerTaskEnd event) {
    if (event.taskMetrics() != null) {
      remoteBytes.addAndGet(event.taskMetrics().shuffleReadMetrics().remoteBytesRead());
    }
    if (event.taskInfo().successful()) {
      progress.taskDone();
    }
  }

  @Override
  public void onJobEnd(SparkListenerJobEnd event) {
    progress.end();
    jobEnd.countDown();
  }

  /** Events arrive in order, so that all task ends have been seen by then. */
  void awaitJobEnd(long timeoutMs) throws InterruptedException, TimeoutException {
    if (!jobEnd.await(timeoutMs, TimeUnit.MILLISECONDS)) {
      throw new TimeoutException("no job end event within " + timeoutMs + " ms");
    }
  }

  long remoteBytes() {
    return remoteBytes.get();
  }
}
