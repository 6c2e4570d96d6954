// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.metrics;

import dev.sluice.rdma.transfer.LatencyHistogram;
import dev.sluice.rdma.transfer.LatencySnapshot;
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

  /** READs of a histogram until a time, or between two times. */
  private record Reads(LatencySnapshot times, long bytes) {
    static final Reads NONE = new Reads(LatencySnapshot.of(List.of()), 0);

    static Reads of(LatencyHistogram latency) {
      return new Reads(latency.snapshot(), latency.bytes());
    }

    Reads since(Reads earlier) {
      return new Reads(times.since(earlier.times), bytes - earlier.bytes);
    }
  }

  /**
   * Windows of a peer.
   *
   * @param latency its histogram; the engine makes another one if it meets a forgotten peer again
   * @param start READs until the window before began
   * @param current READs until the current window began
   */
  private record Windows(LatencyHistogram latency, Reads start, Reads current) {
    Windows(LatencyHistogram latency) {
      this(latency, Reads.NONE, Reads.NONE);
    }

    Windows next() {
      Reads now = Reads.of(latency);
      boolean isOver = now.since(current).times().count() >= MIN_READS;
      return isOver ? new Windows(latency, current, now) : this;
    }
  }

  private final Map<PeerAddress, LatencyHistogram> byPeer;

  /** Guarded by this. */
  private final Map<PeerAddress, Windows> windows = new HashMap<>();

  /**
   * @param byPeer a view of the peers, which other threads change
   */
  RecentReads(Map<PeerAddress, LatencyHistogram> byPeer) {
    this.byPeer = byPeer;
  }

  /** Begins the next window of each peer that was READ often enough. Called once a minute. */
  synchronized void nextWindow() {
    windows.keySet().retainAll(byPeer.keySet());
    byPeer.forEach((peer, latency) -> windows.put(peer, windows(peer, latency).next()));
  }

  /** Returns the recent READs of each peer, in any order. */
  synchronized List<PeerReads> byPeer() {
    return byPeer.entrySet().stream()
        .map(entry -> recent(entry.getKey(), windows(entry.getKey(), entry.getValue())))
        .toList();
  }

  private Windows windows(PeerAddress peer, LatencyHistogram latency) {
    Windows known = windows.get(peer);
    return known == null || known.latency() != latency ? new Windows(latency) : known;
  }

  private static PeerReads recent(PeerAddress peer, Windows windows) {
    Reads recent = Reads.of(windows.latency()).since(windows.start());
    LatencySnapshot times = recent.times();
    return new PeerReads(
        peer, times.count(), recent.bytes(), times.quantile(0.5), times.quantile(0.99));
  }
}
