// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.transfer;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Names a peer whose READs take much longer than those from other peers, by a WARN with the marker
 * {@code SLOW_PEER}, at most once a minute. Each task waits for its slowest peer, so one such peer
 * delays a whole stage.
 *
 * <p>A peer's median over at most the last minute is compared with that of the other peers. If all
 * peers are slow, none is named: the network or this process is the cause then. The {@link
 * ReadEngine} makes it, and calls {@link #check} on its thread. Every ten seconds a check reads
 * some 200 numbers for each peer.
 */
public final class SlowPeers {
  private static final Logger LOG = LoggerFactory.getLogger(SlowPeers.class);

  static final long CHECK_NANOS = TimeUnit.SECONDS.toNanos(10);

  /** Longest time that a comparison covers, and the shortest one between two lines. */
  public static final long WINDOW_NANOS = TimeUnit.MINUTES.toNanos(1);

  /** Number of READs that a comparison needs of a peer. */
  public static final int MIN_READS = 10;

  /** A slow peer's median is at least so many times that of the others. */
  private static final int FACTOR = 4;

  /** Shortest median of a slow peer: a shorter one does not delay a task noticeably. */
  private static final long MIN_MICROS = TimeUnit.MILLISECONDS.toMicros(50);

  /** Latency of a peer in the current window, in microseconds. */
  private record Recent(Peer peer, long reads, long median) {}

  private final Counters<TransferCounter> counters;
  private long nextCheckNanos;
  private long windowNanos;
  private long quietUntilNanos;

  SlowPeers(Counters<TransferCounter> counters, long nowNanos) {
    this.counters = counters;
    this.nextCheckNanos = nowNanos + CHECK_NANOS;
    this.windowNanos = nowNanos;
    this.quietUntilNanos = nowNanos;
  }

  /**
   * Returns true if a peer's READs take much longer than others.
   *
   * @param micros median of the peer's READs, in microseconds
   * @param othersMicros median of the others, in microseconds
   */
  public static boolean isSlow(long micros, long othersMicros) {
    return micros >= Math.max(MIN_MICROS, FACTOR * othersMicros);
  }

  /** Compares the peers if it is time to. */
  void check(Collection<Peer> peers, long nowNanos) {
    if (nextCheckNanos - nowNanos > 0) {
      return;
    }
    nextCheckNanos = nowNanos + CHECK_NANOS;
    if (quietUntilNanos - nowNanos <= 0) {
      compare(peers, nowNanos);
    }
    if (nowNanos - windowNanos >= WINDOW_NANOS) {
      windowNanos = nowNanos;
      peers.forEach(peer -> peer.recent().restart());
    }
  }

  private void compare(Collection<Peer> peers, long nowNanos) {
    List<Recent> recent = new ArrayList<>();
    for (Peer peer : peers) {
      LatencySnapshot latency = peer.recent().recent();
      long reads = latency.count();
      if (reads >= MIN_READS) {
        recent.add(new Recent(peer, reads, latency.quantile(0.5)));
      }
    }
    recent.sort(Comparator.comparingLong(Recent::median));
    if (recent.size() < 2) {
      return;
    }
    Recent slowest = recent.removeLast();
    long others = recent.get(recent.size() / 2).median();
    if (isSlow(slowest.median(), others)) {
      quietUntilNanos = nowNanos + WINDOW_NANOS;
      counters.increment(TransferCounter.SLOW_PEERS);
      report(slowest, recent.size(), others, nowNanos);
    }
  }

  private void report(Recent slowest, int others, long othersMedian, long nowNanos) {
    LOG.warn(
        "SLOW_PEER {}: the median of its {} READs in {} s is {} ms, that of {} other peers {} ms."
            + " Tasks wait for their slowest peer: check load, disks and network of its host (the"
            + " doctor's --serve and --peer measure the network). Setting read.timeout limits the"
            + " wait for a READ",
        slowest.peer(),
        slowest.reads(),
        TimeUnit.NANOSECONDS.toSeconds(nowNanos - windowNanos),
        millis(slowest.median()),
        others,
        millis(othersMedian));
  }

  /** Returns microseconds as milliseconds with one decimal, for a log line. */
  public static String millis(long micros) {
    return String.format(Locale.ROOT, "%.1f", micros / 1000.0);
  }
}
