// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.driver;

import dev.sluice.rdma.transfer.PeerAddress;
import dev.sluice.spark.metrics.ApplicationSummary;
import dev.sluice.spark.metrics.ApplicationTotals;
import dev.sluice.spark.metrics.ExecutorStates;
import dev.sluice.spark.metrics.PeerName;
import dev.sluice.spark.metrics.UpdateRecords;
import dev.sluice.spark.ui.SluiceUi;
import dev.sluice.spark.ui.SluiceUpdate;
import dev.sluice.spark.ui.SluiceUpdate.Bytes;
import dev.sluice.spark.ui.SluiceUpdate.Executor;
import dev.sluice.spark.ui.SluiceUpdate.Place;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.apache.spark.SparkContext;
import org.apache.spark.scheduler.EventLoggingListener;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerApplicationEnd;
import org.apache.spark.scheduler.SparkListenerTaskEnd;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Posts a {@link SluiceUpdate} to Spark's listeners every second at first, later every ten, if
 * something has changed, and adds the tab to Spark's UI. {@code DriverRuntime} makes it with the
 * first shuffle. All work is done on the driver's timer, except for the tab and the last update.
 *
 * <p>An application goes on without it: a failure is logged once, and ends the feed.
 */
final class UiFeed {
  private static final Logger LOG = LoggerFactory.getLogger(UiFeed.class);
  private static final long MIN_INTERVAL_MS = 1_000;
  private static final long MAX_INTERVAL_MS = 10_000;

  /** Divisor of the time since the start, which gives the interval. */
  private static final long INTERVAL_PART = 60;

  /**
   * Least time between two updates with rows of executors, for each of them: rows of a thousand
   * come every 50 s. A row has some 500 bytes in the event log.
   */
  private static final long ROW_MS = 50;

  /**
   * Limits to which that interval grows with the time since the start, for each executor and in
   * all. Rows of five executors come every 3 s at last, those of a thousand every five minutes: 150
   * MB a day.
   */
  private static final long MAX_ROW_MS = 600;

  private static final long MAX_ROWS_MS = 300_000;

  private final ApplicationTotals totals;
  private final ExecutorStates states;
  private final LongSupplier clockMs;
  private final Supplier<Map<PeerAddress, String>> daemons;
  private final MixedProviders mixed = new MixedProviders();
  private final SlowPeersOfAll slowPeers = new SlowPeersOfAll();
  private final long startMs;

  // Guarded by this. All times are in milliseconds since 1970.
  private Bytes posted;
  private long lookedMs;
  private long rowsMs;

  /**
   * @param daemons returns the node daemons with map outputs, and their providers
   * @param clockMs milliseconds since 1970
   */
  UiFeed(
      ApplicationTotals totals,
      ExecutorStates states,
      Supplier<Map<PeerAddress, String>> daemons,
      LongSupplier clockMs) {
    this.totals = totals;
    this.states = states;
    this.daemons = daemons;
    this.clockMs = clockMs;
    this.startMs = clockMs.getAsLong();
    this.posted = UpdateRecords.bytes(Map.of());
    this.lookedMs = startMs;
  }

  /**
   * Adds the tab on the caller's thread, see {@link SluiceUi}, and starts to post.
   *
   * @param timer posts until it is stopped
   */
  void start(SparkContext context, ApplicationSummary summary, ScheduledExecutorService timer) {
    boolean isSeen = context.ui().isDefined() || context.eventLogger().isDefined();
    if (context.eventLogger().isDefined()) {
      context
          .listenerBus()
          .addToEventLogQueue(new LastUpdate(this, summary, context.eventLogger().get()));
    }
    SluiceUi.attach(context);
    tickSoon(isSeen, context, timer);
  }

  private void tickSoon(boolean isSeen, SparkContext context, ScheduledExecutorService timer) {
    long sinceStartMs = clockMs.getAsLong() - startMs;
    try {
      timer.schedule(
          () -> tick(isSeen, context, timer),
          Math.clamp(sinceStartMs / INTERVAL_PART, MIN_INTERVAL_MS, MAX_INTERVAL_MS),
          TimeUnit.MILLISECONDS);
    } catch (RejectedExecutionException e) {
      LOG.debug("The feed of Spark's UI is closed");
    }
  }

  private void tick(boolean isSeen, SparkContext context, ScheduledExecutorService timer) {
    try {
      mixed.look(places());
      slowPeers.look(
          states.slowPeers(), states.recentP50Micros(), states.reads(), clockMs.getAsLong());
      List<SluiceUpdate> due = next(false);
      if (isSeen) {
        due.forEach(context.listenerBus()::post);
      }
      tickSoon(isSeen, context, timer);
    } catch (Throwable e) { // Errors too: no other code sees them.
      LOG.warn("The tab Sluice in Spark's UI shows nothing new after a failure", e);
    }
  }

  /** Returns the places of the executors that live and of node daemons, by name. */
  private Map<String, Place> places() {
    Map<String, Place> places = new LinkedHashMap<>();
    states.places().forEach((executor, place) -> places.put("executor " + executor, place));
    daemons
        .get()
        .forEach(
            (peer, provider) ->
                places.put(PeerName.node(peer), new Place(provider, "", "", "", "")));
    return places;
  }

  /**
   * Returns the update that is due; none if nothing has changed.
   *
   * @param last true to have the rows of all executors now. Spark may have dropped the update
   *     before, which it does silently once it stops
   */
  synchronized List<SluiceUpdate> next(boolean last) {
    long nowMs = clockMs.getAsLong();
    Map<String, Long> counted = totals.totals();
    Bytes bytes = UpdateRecords.bytes(counted);
    List<Executor> rows = last ? states.takeAll() : rowsIfDue(nowMs);
    long unchangedUntilMs = lookedMs;
    lookedMs = nowMs;
    if (bytes.equals(posted) && rows.isEmpty()) {
      return List.of();
    }
    posted = bytes;
    return List.of(
        new SluiceUpdate(
            nowMs,
            unchangedUntilMs,
            bytes,
            UpdateRecords.fallbacks(counted),
            states.reads(),
            rows,
            states.slowPeers(),
            states.peerFallbacks()));
  }

  private List<Executor> rowsIfDue(long nowMs) {
    long count = states.count();
    long growingMs = Math.min((nowMs - startMs) / INTERVAL_PART, MAX_ROWS_MS);
    long everyMs = Math.max(ROW_MS * count, Math.min(growingMs, MAX_ROW_MS * count));
    if (nowMs - rowsMs < everyMs) {
      return List.of();
    }
    List<Executor> rows = states.takeChanged();
    if (!rows.isEmpty()) {
      rowsMs = nowMs;
    }
    return rows;
  }

  /**
   * Writes the last update to the event log. Executors report a moment after their tasks, when
   * Spark may have closed its listeners to new events. Therefore this listener sits in the event
   * log's own queue, waits there for the reports when the application ends, and writes the update
   * itself. Spark ends the log after that queue. {@link ApplicationSummary} limits the wait.
   */
  static final class LastUpdate extends SparkListener {
    private final UiFeed feed;
    private final ApplicationSummary summary;
    private final EventLoggingListener log;
    private long fetchedBlocks;

    LastUpdate(UiFeed feed, ApplicationSummary summary, EventLoggingListener log) {
      this.feed = feed;
      this.summary = summary;
      this.log = log;
    }

    @Override
    public void onTaskEnd(SparkListenerTaskEnd end) {
      fetchedBlocks += ApplicationSummary.fetchedBlocks(end);
    }

    @Override
    public void onApplicationEnd(SparkListenerApplicationEnd end) {
      try {
        summary.awaitReports(fetchedBlocks);
        feed.next(true).forEach(log::onOtherEvent);
      } catch (Throwable e) { // Errors too: the other events must still be written.
        LOG.warn("The event log lacks the last figures of the tab Sluice", e);
      }
    }
  }
}
