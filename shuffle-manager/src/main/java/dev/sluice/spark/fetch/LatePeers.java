// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.fetch;

import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * Peers of an executor, with the count of their late READs. A peer that was late three times in a
 * row is avoided: Spark's transfer fetches its small blocks without a READ. A probe every 30 s
 * tells if the peer is in time again. If most peers were late, the network or this process is slow,
 * and no peer is avoided.
 *
 * <p>{@link LateReads} has one and calls it with its lock. A peer costs some 100 bytes until it is
 * unused for two minutes.
 */
final class LatePeers {
  /** Consecutive late READs after which a peer is avoided. */
  static final int MAX_LATE = 3;

  /** Time after a late READ within which READs begin that do not count. One stall has them all. */
  static final long APART_NANOS = TimeUnit.SECONDS.toNanos(1);

  static final long PROBE_NANOS = TimeUnit.SECONDS.toNanos(30);

  /** Shortest time between two lines of the log about one peer. */
  static final long REPORT_NANOS = TimeUnit.MINUTES.toNanos(1);

  /** State of a peer. */
  private static final class Peer {
    /** Late READs that count, since the last one in time. */
    int late;

    /** Beginning of the last of them. */
    long startNanos;

    /** End of the last of them; the time at which it was counted if it has not ended. */
    long lateNanos;

    /** Time of the next probe, if the peer is avoided. */
    long probeNanos;

    long usedNanos;

    /** Time from which on the log may name the peer, if it is avoided. */
    long reportNanos;

    boolean isAvoided() {
      return late >= MAX_LATE;
    }
  }

  private final Map<String, Peer> peers = new HashMap<>();

  private Peer used(String peerId, long nowNanos) {
    Peer peer = peers.computeIfAbsent(peerId, _ -> new Peer());
    peer.usedNanos = nowNanos;
    return peer;
  }

  /**
   * Notes a READ that was in time.
   *
   * @return true if the peer was avoided
   */
  boolean inTime(String peerId, long nowNanos) {
    Peer peer = used(peerId, nowNanos);
    boolean wasAvoided = peer.isAvoided();
    peer.late = 0;
    return wasAvoided;
  }

  /**
   * Counts a late READ, unless it began less than a second after the end of the late one before, or
   * after the count of that one while it has not ended.
   */
  void late(String peerId, long startNanos, long nowNanos) {
    Peer peer = used(peerId, nowNanos);
    if (peer.late > 0 && startNanos - peer.lateNanos < APART_NANOS) {
      return;
    }
    peer.late++;
    peer.startNanos = startNanos;
    peer.lateNanos = nowNanos;
    if (peer.late == MAX_LATE) {
      peer.probeNanos = nowNanos + PROBE_NANOS;
      peer.reportNanos = nowNanos;
    }
  }

  /** Notes the end of a READ that {@link #late} has taken. */
  void lateEnded(String peerId, long startNanos, long nowNanos) {
    Peer peer = used(peerId, nowNanos);
    if (peer.late > 0 && peer.startNanos == startNanos) {
      peer.lateNanos = nowNanos;
    }
  }

  /** Returns true if Spark's transfer should fetch the peer's batches. */
  boolean avoids(String peerId) {
    Peer peer = peers.get(peerId);
    return peer != null && peer.isAvoided() && 2 * avoided() <= peers.size();
  }

  private long avoided() {
    return peers.values().stream().filter(Peer::isAvoided).count();
  }

  /**
   * Returns the time of the peer's last late READ so far, on one call a minute while it is avoided;
   * else 0.
   */
  long report(String peerId, long nowNanos) {
    Peer peer = peers.get(peerId);
    if (peer == null || nowNanos - peer.reportNanos < 0) {
      return 0;
    }
    peer.reportNanos = nowNanos + REPORT_NANOS;
    return peer.lateNanos - peer.startNanos;
  }

  /** Takes back a probe that could not start: the next call of {@link #takesProbe} has it. */
  void probeLater(String peerId, long nowNanos) {
    used(peerId, nowNanos).probeNanos = nowNanos;
  }

  /** Returns true on one call every 30 s while the peer is avoided. */
  boolean takesProbe(String peerId, long nowNanos) {
    Peer peer = peers.get(peerId);
    if (peer == null || !avoids(peerId) || nowNanos - peer.probeNanos < 0) {
      return false;
    }
    peer.probeNanos = nowNanos + PROBE_NANOS;
    return true;
  }

  /** Forgets peers that were not used for a time. They would count as peers that are in time. */
  void forgetUnused(long nanos, long nowNanos) {
    peers.values().removeIf(peer -> nowNanos - peer.usedNanos >= nanos);
  }
}
