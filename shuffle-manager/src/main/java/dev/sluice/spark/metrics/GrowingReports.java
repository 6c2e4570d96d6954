// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.metrics;

import dev.sluice.spark.locate.DirectoryMessage;
import dev.sluice.spark.locate.DriverChannel;
import java.io.IOException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reports of one kind from an executor to the driver, for the tab in Spark's UI. A report is sent
 * only if it has more than the last one. {@link CountersReporter} sends fallbacks by peer, some 1
 * KB, and {@link ReadTimesReporter} times of READs, some 2 KB, on the scheduler's threads. Nothing
 * to close.
 */
final class GrowingReports {
  private static final Logger LOG = LoggerFactory.getLogger(GrowingReports.class);

  private final DriverChannel driver;

  /** Sequence of the last report. */
  private final AtomicLong reported = new AtomicLong();

  GrowingReports(DriverChannel driver) {
    this.driver = driver;
  }

  /**
   * Sends a report, unless the last one had the same sequence. A report that fails makes way for
   * the next one.
   */
  void send(long sequence, Supplier<DirectoryMessage> report) {
    long before = reported.get();
    if (sequence == before || !reported.compareAndSet(before, sequence)) {
      return;
    }
    try {
      driver.ask(report.get());
    } catch (IOException e) {
      LOG.debug("A report for the tab in Spark's UI failed; trying again later", e);
      reported.compareAndSet(sequence, before);
    }
  }
}
