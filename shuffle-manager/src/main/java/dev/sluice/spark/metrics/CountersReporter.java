package dev.sluice.spark.metrics;

import dev.sluice.spark.locate.DirectoryMessage.Report;
import dev.sluice.spark.locate.DriverChannel;
import java.io.IOException;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells the driver what the executor has counted, a moment after tasks have ended. Tasks' threads
 * call {@link #changed}, which never blocks; the given scheduler sends.
 */
public final class CountersReporter {
  private static final Logger LOG = LoggerFactory.getLogger(CountersReporter.class);
  private static final long COALESCE_MS = 200;

  private final String executorId;
  private final String device;
  private final ExecutorMetrics metrics;
  private final DriverChannel driver;
  private final ScheduledExecutorService scheduler;
  private final AtomicBoolean scheduled = new AtomicBoolean();

  /**
   * @param device provider and device in use
   */
  public CountersReporter(
      String executorId,
      String device,
      ExecutorMetrics metrics,
      DriverChannel driver,
      ScheduledExecutorService scheduler) {
    this.executorId = executorId;
    this.device = device;
    this.metrics = metrics;
    this.driver = driver;
    this.scheduler = scheduler;
  }

  /** A task has ended. */
  public void changed() {
    if (scheduled.compareAndSet(false, true)) {
      try {
        scheduler.schedule(this::report, COALESCE_MS, TimeUnit.MILLISECONDS);
      } catch (RejectedExecutionException e) {
        LOG.debug("The executor stops; its counters are not reported any more");
      }
    }
  }

  private void report() {
    scheduled.set(false);
    try {
      driver.ask(new Report(executorId, System.nanoTime(), device, metrics.snapshot()));
    } catch (IOException e) {
      LOG.debug("The counters are not reported; they go with the next task's", e);
    }
  }
}
