// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.metrics;

import dev.sluice.rdma.transfer.LatencyHistogram;
import dev.sluice.rdma.transfer.LatencySnapshot;
import dev.sluice.rdma.transfer.LatencyWindows;
import dev.sluice.rdma.transfer.PeerAddress;
import dev.sluice.spark.locate.DirectoryMessage.PeerReads;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * READs from each peer in its last two windows, the one that goes on and the one before. A window
 * takes a minute, or longer until it has {@value #MIN_READS} READs. A peer that becomes slow thus
 * shows it after two minutes, however many fast READs it had before. It also does if only probes
 * READ from it. A peer that is READ no more keeps its last values until the engine forgets it.
 *
 * <p>{@link ReadTimesReporter} makes it, and calls it on its scheduler's threads. A peer costs some
 * 2 kB. Nothing to close.
 */
final class RecentReads {
  /** Number of READs that end a window. Fewer READs of a peer tell little. */
  static final int MIN_READS = 4;

  private final Map<PeerAddress, LatencyHistogram> byPeer;

  /** Guarded by this. */
  private final Map<PeerAddress, LatencyWindows> windows = new HashMap<>();

  /**
   * @param byPeer a view of the peers, which other threads change
   */
  RecentReads(Map<PeerAddress, LatencyHistogram> byPeer) {
    this.byPeer = byPeer;
  }

  /** Begins the next window of each peer that was READ often enough. Called once a minute. */
  synchronized void nextWindow() {
    windows.keySet().retainAll(byPeer.keySet());
    byPeer.forEach(
        (peer, latency) -> {
          LatencyWindows ofPeer = windows(peer, latency);
          ofPeer.next(MIN_READS);
          windows.put(peer, ofPeer);
        });
  }

  /** Returns the recent READs of each peer, in any order. */
  synchronized List<PeerReads> byPeer() {
    return byPeer.entrySet().stream()
        .map(entry -> recent(entry.getKey(), windows(entry.getKey(), entry.getValue())))
        .toList();
  }

  /** Returns new windows if the engine has a new histogram, as it met a forgotten peer again. */
  private LatencyWindows windows(PeerAddress peer, LatencyHistogram latency) {
    LatencyWindows known = windows.get(peer);
    return known == null || !known.areOf(latency) ? new LatencyWindows(latency) : known;
  }

  private static PeerReads recent(PeerAddress peer, LatencyWindows windows) {
    LatencySnapshot recent = windows.recent();
    return new PeerReads(
        peer, recent.count(), recent.bytes(), recent.quantile(0.5), recent.quantile(0.99));
  }
}
