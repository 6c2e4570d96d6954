// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.metrics;

import dev.sluice.spark.locate.DirectoryMessage.Details;
import dev.sluice.spark.locate.DirectoryMessage.Over;
import dev.sluice.spark.locate.DirectoryMessage.PeerFallbacks;
import dev.sluice.spark.locate.DirectoryMessage.Report;
import dev.sluice.spark.locate.DriverChannel;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BiPredicate;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reports the executor's counters, the times of its READs and its fallbacks by peer to the driver,
 * and the counters in the executor's log. Reports come a moment after its tasks have ended. While
 * tasks go on, reports are rare, as the driver takes the reports of a thousand executors one by
 * one. The log gets at most one line in ten seconds. Lines must not wait for the executor's end: a
 * standalone Worker stops copying an executor's output before it ends the process.
 *
 * <p>Tasks' threads call {@link #changed}, which never blocks. The given scheduler sends and logs,
 * on more than one thread. The runtime makes it and closes it before the scheduler. A report is
 * sent by the thread that clears {@code unreported}, which it does before it reads the counters.
 */
public final class CountersReporter implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(CountersReporter.class);

  /** Tasks that end within this time of each other share a report. */
  private static final long QUIET_NANOS = TimeUnit.MILLISECONDS.toNanos(200);

  /** Limit of the time that a report is put off while tasks go on ending, or after a failure. */
  private static final long MAX_AGE_NANOS = TimeUnit.SECONDS.toNanos(10);

  /** Interval of reports from an executor without tasks that holds shuffles, which may be over. */
  private static final long HELD_NANOS = TimeUnit.MINUTES.toNanos(2);

  /** Interval at which the windows of {@link RecentReads} begin. */
  private static final long WINDOW_NANOS = TimeUnit.MINUTES.toNanos(1);

  private static final long LINE_INTERVAL_NANOS = TimeUnit.SECONDS.toNanos(10);

  /** Limit of the wait for the last report. A driver that stops waits no longer for it either. */
  private static final long CLOSE_TIMEOUT_MS = 1_000;

  /** Shuffles whose map outputs the executor holds. The scheduler's threads ask its runtime. */
  public interface Shuffles {
    List<Integer> held();

    /**
     * Notes that no task can read the shuffle any more. Spark has said so before, but not to an
     * executor whose block manager it had forgotten. It forgets one after a fetch failure, until
     * the next heartbeat.
     */
    void over(int shuffleId);
  }

  private final String executorId;
  private final String device;
  private final ExecutorMetrics metrics;
  private final Optional<ReadTimesReporter> readTimes;
  private final Shuffles shuffles;
  private final DriverChannel driver;
  private final ScheduledExecutorService scheduler;
  private final LongSupplier nanoClock;
  private final Consumer<String> log;

  /** True if a task has ended that is in no report. */
  private final AtomicBoolean unreported = new AtomicBoolean();

  /** Number of READs and blocks that fell back in the last {@link Details}. */
  private final AtomicLong detailed = new AtomicLong();

  private final AtomicBoolean lineScheduled = new AtomicBoolean();
  private final AtomicBoolean heldScheduled = new AtomicBoolean();

  /**
   * Time when the first task of the pending report ended. The task that set {@code unreported}
   * writes it; the scheduler hands it over.
   */
  private long firstNanos;

  /** Time when the last task ended. */
  private volatile long lastNanos;

  /** Time of the last line. */
  private volatile long saidNanos;

  /** Values of the last line. Guarded by this. */
  private Map<String, Long> said = Map.of();

  /** Values that the driver has. */
  private volatile Map<String, Long> reported = Map.of();

  /**
   * @param device provider and device in use
   * @param nanoClock clock such as {@link System#nanoTime}
   * @param log takes the counters that are not zero, as a line
   */
  public CountersReporter(
      String executorId,
      String device,
      ExecutorMetrics metrics,
      Shuffles shuffles,
      DriverChannel driver,
      ScheduledExecutorService scheduler,
      LongSupplier nanoClock,
      Consumer<String> log) {
    this(
        executorId,
        device,
        metrics,
        metrics.latencies().map(reads -> new ReadTimesReporter(reads.all(), reads.byPeer())),
        shuffles,
        driver,
        scheduler,
        nanoClock,
        log);
  }

  /** Makes a reporter with given times of READs, which tests replace. */
  CountersReporter(
      String executorId,
      String device,
      ExecutorMetrics metrics,
      Optional<ReadTimesReporter> readTimes,
      Shuffles shuffles,
      DriverChannel driver,
      ScheduledExecutorService scheduler,
      LongSupplier nanoClock,
      Consumer<String> log) {
    this.executorId = executorId;
    this.device = device;
    this.metrics = metrics;
    this.readTimes = readTimes;
    this.shuffles = shuffles;
    this.driver = driver;
    this.scheduler = scheduler;
    this.nanoClock = nanoClock;
    this.log = log;
    this.saidNanos = nanoClock.getAsLong() - LINE_INTERVAL_NANOS;
    readTimes.ifPresent(this::nextWindows);
  }

  private void nextWindows(ReadTimesReporter times) {
    after(
        WINDOW_NANOS,
        () -> {
          times.nextWindow();
          nextWindows(times);
        });
  }

  /** Notes that a task has ended. */
  public void changed() {
    long now = nanoClock.getAsLong();
    lastNanos = now;
    if (unreported.compareAndSet(false, true)) {
      firstNanos = now;
      after(QUIET_NANOS, this::reportIfDue);
    }
  }

  private void after(long nanos, Runnable action) {
    try {
      scheduler.schedule(action, nanos, TimeUnit.NANOSECONDS);
    } catch (RejectedExecutionException e) {
      LOG.debug("The executor is stopping; its counters are no longer reported");
    }
  }

  private void reportIfDue() {
    long now = nanoClock.getAsLong();
    long left = Math.min(lastNanos + QUIET_NANOS - now, firstNanos + MAX_AGE_NANOS - now);
    if (left > 0) {
      after(left, this::reportIfDue);
      return;
    }
    if (lineScheduled.compareAndSet(false, true)) {
      after(Math.max(0, saidNanos + LINE_INTERVAL_NANOS - now), this::sayWhenDue);
    }
    report();
  }

  private void report() {
    List<Integer> held = shuffles.held();
    if (!held.isEmpty() && heldScheduled.compareAndSet(false, true)) {
      after(HELD_NANOS, this::reportHeld);
    }
    report(held);
  }

  /**
   * Reports for an executor that may hold shuffles that are over, but has no task whose end would
   * cause a report.
   */
  private void reportHeld() {
    heldScheduled.set(false);
    unreported.set(true);
    say();
    report();
  }

  private void report(List<Integer> held) {
    // Before the counters are read: a task that ends from here on causes another report.
    if (!unreported.getAndSet(false)) {
      return;
    }
    reportDetails(); // Before the counters, for which the driver waits at the application's end.
    try {
      // Before the counters are read, too: the largest sequence has the newest ones.
      long sequence = nanoClock.getAsLong();
      Map<String, Long> values = metrics.snapshot();
      Report report = new Report(executorId, sequence, device, values, held);
      if (driver.ask(report) instanceof Over over) {
        over.shuffles().forEach(shuffles::over);
      }
      reported = ExecutorMetrics.counted(values);
    } catch (IOException e) {
      LOG.debug("Reporting the counters failed; trying again later, at the latest at the end", e);
      if (unreported.compareAndSet(false, true)) {
        after(MAX_AGE_NANOS, this::reportIfDue);
      }
    }
  }

  /** Reports some 3 KB if there are more READs or fallbacks than in the last such report. */
  private void reportDetails() {
    PeerFallbacks fallbacks = metrics.fallbacksByPeer().largest(FallbacksByPeer.MAX_REPORTED);
    long before = detailed.get();
    long now = fallbacks.sequence() + readTimes.map(ReadTimesReporter::count).orElse(0L);
    if (now == before || !detailed.compareAndSet(before, now)) {
      return;
    }
    try {
      driver.ask(new Details(executorId, readTimes.map(ReadTimesReporter::report), fallbacks));
    } catch (IOException e) {
      LOG.debug("A report for the tab in Spark's UI failed; trying again later", e);
      detailed.compareAndSet(now, before);
    }
  }

  private void sayWhenDue() {
    lineScheduled.set(false);
    say((last, now) -> ShuffleCounters.blocks(last) == ShuffleCounters.blocks(now));
  }

  /**
   * Logs a line, unless the last one has the same values. It also has the READs of others from
   * here. Any thread.
   */
  public void say() {
    say(Map::equals);
  }

  private synchronized void say(BiPredicate<Map<String, Long>, Map<String, Long>> isSaid) {
    Map<String, Long> values = metrics.snapshot();
    Map<String, Long> counted = ExecutorMetrics.counted(values);
    if (!isSaid.test(said, counted)) {
      said = counted;
      saidNanos = nanoClock.getAsLong();
      log.accept(ExecutorMetrics.summary(values));
    }
  }

  /** Logs and reports all outstanding values, and waits a little until the driver has them. */
  @Override
  public void close() {
    say();
    try {
      // All shuffles end with the executor, which need not end each by itself.
      Future<?> last = scheduler.submit(this::reportLast);
      last.get(CLOSE_TIMEOUT_MS, TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (ExecutionException | TimeoutException | RejectedExecutionException e) {
      LOG.debug("Reporting the last counters failed", e);
    }
  }

  /** Reports once more, as others may have READ from here since the last task ended. */
  private void reportLast() {
    if (!ExecutorMetrics.counted(metrics.snapshot()).equals(reported)) {
      unreported.set(true);
    }
    report(List.of());
  }
}
