// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.ui;

import dev.sluice.spark.ui.SluiceStatus.KnownExecutor;
import dev.sluice.spark.ui.SluiceStatus.Off;
import dev.sluice.spark.ui.SluiceStatus.Point;
import dev.sluice.spark.ui.SluiceUpdate.Bytes;
import dev.sluice.spark.ui.SluiceUpdate.Executor;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerEvent;
import org.apache.spark.scheduler.SparkListenerExecutorMetricsUpdate;
import org.apache.spark.scheduler.SparkListenerExecutorRemoved;
import org.apache.spark.status.ElementTrackingStore;
import org.apache.spark.util.kvstore.KVStore;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes a {@link SluiceStatus} from an application's {@link SluiceUpdate}s. {@link SluiceUi} makes
 * it and adds it to Spark. One thread of Spark's calls it: that of the queue of status listeners in
 * a driver, the one that replays the event log in a history server. It throws nothing at Spark, and
 * stops its work after a failure. Nothing to close.
 *
 * <p>A driver's store gets each status: after an update, and after a loss. Losses within a second
 * after one that was written wait for the driver's next heartbeat, which comes every 10 s, or for
 * an update. A history server's store gets one status, when Spark flushes it.
 */
final class StatusListener extends SparkListener {
  private static final Logger LOG = LoggerFactory.getLogger(StatusListener.class);

  /** Points above which two for each interval stay. */
  static final int MAX_POINTS = 400;

  private static final String REMOVED = "removed";
  private static final int INTERVALS = 100;
  private static final int MAX_REASONS = 1_000;
  private static final int MAX_REASON_LENGTH = 200;

  /** Spark's executor id of the driver. */
  private static final String DRIVER = "driver";

  /** Least time between two losses that are written at once: each write has all executors. */
  private static final long LOSS_WRITE_MS = 1_000;

  /** Lost executors to show; those that were lost earlier are forgotten. */
  static final int MAX_LOST = 200;

  private final KVStore store;
  private final boolean live;
  private final List<Point> points = new ArrayList<>();
  private final Map<String, KnownExecutor> executors = new LinkedHashMap<>();

  /**
   * Reasons by executor that Spark has removed, for its last row, which comes after the removal.
   * The oldest are forgotten: executors come and go for as long as an application runs.
   */
  private final Map<String, Removal> removed =
      new LinkedHashMap<>() {
        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Removal> eldest) {
          return size() > MAX_REASONS;
        }
      };

  /** Removal of an executor. */
  private static final class Removal {
    final String reason;

    /** True if a row of the executor counts as lost; the row may be forgotten since. */
    boolean isCounted;

    Removal(String reason) {
      this.reason = reason;
    }
  }

  /** Number of executors with a row that were lost. */
  private long lost;

  /** Time of the last loss that was written at once, by Spark's clock. */
  private long lossWrittenMs = -LOSS_WRITE_MS;

  /** True if there was a loss since the last write. */
  private boolean lossUnwritten;

  /** Null before the first update. */
  private @Nullable SluiceUpdate last;

  /** Null unless Sluice is off. */
  private @Nullable Off off;

  private boolean failed;

  private StatusListener(KVStore store, boolean live) {
    this.store = store;
    this.live = live;
  }

  /** Returns the listener of a driver. */
  static StatusListener live(KVStore store) {
    return new StatusListener(store, true);
  }

  /** Returns the listener for an application that is replayed. */
  static StatusListener replaying(ElementTrackingStore store) {
    StatusListener listener = new StatusListener(store, false);
    store.onFlush(
        () -> {
          listener.guarded(listener::write);
          return scala.runtime.BoxedUnit.UNIT;
        });
    return listener;
  }

  @Override
  public void onOtherEvent(SparkListenerEvent event) {
    if (event instanceof SluiceUpdate update) {
      guarded(() -> take(update));
    } else if (event instanceof SluiceOff told) {
      guarded(() -> take(told));
    }
  }

  @Override
  public void onExecutorRemoved(SparkListenerExecutorRemoved removed) {
    guarded(() -> lost(removed.executorId(), removed.reason(), removed.time()));
  }

  @Override
  public void onExecutorMetricsUpdate(SparkListenerExecutorMetricsUpdate heartbeat) {
    if (lossUnwritten && heartbeat.execId().equals(DRIVER)) {
      guarded(this::writeIfLive);
    }
  }

  private void guarded(Runnable work) {
    if (failed) {
      return;
    }
    try {
      work.run();
    } catch (Throwable e) { // Errors too: Spark removes a listener that throws, loudly.
      failed = true;
      LOG.warn("The tab Sluice shows nothing new of this application after a failure", e);
    }
  }

  private void take(SluiceOff told) {
    off = new Off(told.reason(), told.key());
    writeIfLive();
  }

  private void take(SluiceUpdate update) {
    SluiceUpdate newest = last;
    if (newest != null && update.time() < newest.time()) {
      takeLate(update, newest);
      return;
    }
    if (newest == null) {
      add(new Point(update.unchangedUntil(), Bytes.NONE));
    } else if (update.unchangedUntil() > newest.time()) {
      add(new Point(update.unchangedUntil(), newest.bytes()));
    }
    add(new Point(update.time(), update.bytes()));
    last = update;
    update.executors().forEach(this::put);
    forgetOldestLost();
    writeIfLive();
  }

  /** Takes an update that was posted before the last one of an application, and logged after it. */
  private void takeLate(SluiceUpdate update, SluiceUpdate newest) {
    Set<String> newer = newest.executors().stream().map(Executor::id).collect(Collectors.toSet());
    update.executors().stream().filter(row -> !newer.contains(row.id())).forEach(this::put);
  }

  private void put(Executor row) {
    Removal removal = removed.get(row.id());
    KnownExecutor before = executors.get(row.id());
    if (before == null && removal != null && removal.isCounted) {
      return; // Its row was one of the oldest, and is not shown again.
    }
    String reason = removal != null ? removal.reason : row.gone() ? REMOVED : "";
    KnownExecutor known = new KnownExecutor(row, reason);
    if (!known.lives() && (before == null || before.lives())) {
      lost++;
      if (removal != null) {
        removal.isCounted = true;
      }
      executors.remove(row.id()); // It is the last one of the lost.
    }
    executors.put(row.id(), known);
  }

  private void add(Point point) {
    points.add(point);
    if (points.size() > MAX_POINTS) {
      thin();
    }
  }

  /**
   * Keeps the first and the last point of each interval, 100 in all. A pause without bytes keeps
   * its begin and its end, so the plot shows no ramp in its place.
   */
  private void thin() {
    List<Point> all = List.copyOf(points);
    long start = all.get(0).time();
    long span = Math.max(1, points.get(points.size() - 1).time() - start);
    points.clear();
    for (int i = 0; i < all.size(); i++) {
      boolean isEnd = i == 0 || i == all.size() - 1;
      if (isEnd
          || interval(all.get(i), start, span) != interval(all.get(i - 1), start, span)
          || interval(all.get(i), start, span) != interval(all.get(i + 1), start, span)) {
        points.add(all.get(i));
      }
    }
  }

  private static long interval(Point point, long start, long span) {
    return (point.time() - start) * INTERVALS / (span + 1);
  }

  private void lost(String id, String reason, long timeMs) {
    String text = reason == null || reason.isBlank() ? REMOVED : reason;
    String kept = text.substring(0, Math.min(text.length(), MAX_REASON_LENGTH));
    removed.putIfAbsent(id, new Removal(kept));
    KnownExecutor known = executors.get(id);
    if (known == null) {
      return;
    }
    put(known.executor());
    forgetOldestLost();
    lossUnwritten = true;
    if (timeMs - lossWrittenMs >= LOSS_WRITE_MS) {
      lossWrittenMs = timeMs;
      writeIfLive();
    }
  }

  /** Removes rows alone: a row that comes late must still be that of a lost executor. */
  private void forgetOldestLost() {
    List<String> ids =
        executors.values().stream()
            .filter(executor -> !executor.lives())
            .map(executor -> executor.executor().id())
            .toList();
    ids.subList(0, Math.max(0, ids.size() - MAX_LOST)).forEach(executors::remove);
  }

  private void writeIfLive() {
    if (live) {
      write();
    }
  }

  /** Writes nothing for an application without Sluice. */
  private void write() {
    lossUnwritten = false;
    if (off != null) {
      write(off);
    }
    if (last != null) {
      write(
          new SluiceStatus(
              List.copyOf(points),
              last.fallbacks(),
              last.reads(),
              List.copyOf(executors.values()),
              lost,
              last.slowPeers(),
              last.peerFallbacks()));
    }
  }

  private void write(Object status) {
    try {
      store.write(status);
    } catch (Exception e) { // KVStore throws checked exceptions.
      throw new IllegalStateException("Spark's store takes no status of Sluice", e);
    }
  }
}
