// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.metrics;

import dev.sluice.spark.locate.DirectoryMessage.PeerFallbacks;
import dev.sluice.spark.locate.DriverChannel;
import java.io.IOException;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reports an executor's fallbacks by peer to the driver, for the tab in Spark's UI. A report has
 * some 1 KB, and is sent only after more blocks have fallen back. {@link CountersReporter} makes
 * it, and calls it before each report of counters, on its scheduler's threads. Nothing to close.
 */
final class FallbacksReporter {
  private static final Logger LOG = LoggerFactory.getLogger(FallbacksReporter.class);

  /** Number of pairs of peer and reason in a report; the tab shows half as many. */
  static final int MAX_PAIRS = 20;

  private final String executorId;
  private final FallbacksByPeer fallbacks;
  private final DriverChannel driver;

  /** Blocks in the last report. */
  private final AtomicLong reported = new AtomicLong();

  FallbacksReporter(String executorId, FallbacksByPeer fallbacks, DriverChannel driver) {
    this.executorId = executorId;
    this.fallbacks = fallbacks;
    this.driver = driver;
  }

  /** Reports if blocks have fallen back since the last report. */
  void report() {
    PeerFallbacks report = fallbacks.largest(executorId, MAX_PAIRS);
    long before = reported.get();
    if (report.sequence() == before || !reported.compareAndSet(before, report.sequence())) {
      return;
    }
    try {
      driver.ask(report);
    } catch (IOException e) {
      LOG.debug("Reporting fallbacks by peer failed; trying again later", e);
      reported.compareAndSet(report.sequence(), before);
    }
  }
}
