// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.metrics;

import dev.sluice.rdma.transfer.LatencyHistogram;
import dev.sluice.rdma.transfer.LatencySnapshot;
import dev.sluice.rdma.transfer.PeerAddress;
import dev.sluice.spark.locate.DirectoryMessage.PeerReads;
import dev.sluice.spark.locate.DirectoryMessage.ReadTimes;
import java.util.Comparator;
import java.util.List;
import java.util.Map;

/**
 * Latencies of an executor's READs, for the tab in Spark's UI: those of all READs since the start,
 * and the ten peers whose {@link RecentReads} were slowest. {@link CountersReporter} makes it, and
 * calls it before each report of counters, on its scheduler's threads. Nothing to close.
 */
final class ReadTimesReporter {
  /** Number of slowest peers, of an executor and of the application. */
  static final int SLOWEST = 10;

  private final LatencyHistogram all;
  private final RecentReads recent;

  /**
   * @param all latencies of all READs
   * @param byPeer a view of the peers, which other threads change
   */
  ReadTimesReporter(LatencyHistogram all, Map<PeerAddress, LatencyHistogram> byPeer) {
    this.all = all;
    this.recent = new RecentReads(byPeer);
  }

  /** Begins the next window of the peers' READs. */
  void nextWindow() {
    recent.nextWindow();
  }

  /** Returns the number of READs that have ended. */
  long count() {
    return all.snapshot().count();
  }

  ReadTimes report() {
    LatencySnapshot times = all.snapshot();
    return new ReadTimes(times.count(), times.counts(), slowest());
  }

  /**
   * Returns the peers with the largest recent median, the slowest first, and those with few READs
   * last.
   */
  private List<PeerReads> slowest() {
    return recent.byPeer().stream()
        .sorted(
            Comparator.comparing((PeerReads reads) -> reads.requests() >= RecentReads.MIN_READS)
                .thenComparingLong(PeerReads::p50Micros)
                .thenComparingLong(PeerReads::p99Micros)
                .reversed())
        .limit(SLOWEST)
        .toList();
  }
}
