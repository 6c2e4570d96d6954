package dev.sluice.spark.metrics;

import dev.sluice.spark.locate.DirectoryMessage.Report;
import dev.sluice.spark.locate.DriverChannel;
import java.io.IOException;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells the driver what the executor has counted: a moment after its tasks have ceased, and now and
 * then while they go on, as the driver takes the reports of a thousand executors one by one. Tasks'
 * threads call {@link #changed}, which never blocks; the given scheduler sends.
 */
public final class CountersReporter {
  private static final Logger LOG = LoggerFactory.getLogger(CountersReporter.class);
  private static final long QUIET_NANOS = TimeUnit.MILLISECONDS.toNanos(200);
  private static final long MAX_AGE_NANOS = TimeUnit.SECONDS.toNanos(10);

  private final String executorId;
  private final String device;
  private final ExecutorMetrics metrics;
  private final DriverChannel driver;
  private final ScheduledExecutorService scheduler;
  private final LongSupplier nanoClock;
  private final AtomicBoolean pending = new AtomicBoolean();

  /** When the first task ended that the pending report is about. */
  private long firstNanos;

  private volatile long lastNanos;

  /**
   * @param device provider and device in use
   * @param nanoClock as {@link System#nanoTime}
   */
  public CountersReporter(
      String executorId,
      String device,
      ExecutorMetrics metrics,
      DriverChannel driver,
      ScheduledExecutorService scheduler,
      LongSupplier nanoClock) {
    this.executorId = executorId;
    this.device = device;
    this.metrics = metrics;
    this.driver = driver;
    this.scheduler = scheduler;
    this.nanoClock = nanoClock;
  }

  /** A task has ended. */
  public void changed() {
    long now = nanoClock.getAsLong();
    lastNanos = now;
    if (pending.compareAndSet(false, true)) {
      firstNanos = now;
      reportAfter(QUIET_NANOS);
    }
  }

  private void reportAfter(long nanos) {
    try {
      scheduler.schedule(this::reportIfDue, nanos, TimeUnit.NANOSECONDS);
    } catch (RejectedExecutionException e) {
      LOG.debug("The executor stops; its counters are not reported any more");
    }
  }

  private void reportIfDue() {
    long now = nanoClock.getAsLong();
    long left = Math.min(lastNanos + QUIET_NANOS - now, firstNanos + MAX_AGE_NANOS - now);
    if (left > 0) {
      reportAfter(left);
      return;
    }
    // Before the counters are read: a task that ends from here on has a report of its own.
    pending.set(false);
    report();
  }

  private void report() {
    try {
      driver.ask(new Report(executorId, nanoClock.getAsLong(), device, metrics.snapshot()));
    } catch (IOException e) {
      LOG.debug("The counters are not reported; they go with the next task's", e);
    }
  }
}
