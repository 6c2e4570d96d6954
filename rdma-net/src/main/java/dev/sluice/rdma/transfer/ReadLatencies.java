// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.transfer;

import java.util.Collections;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Latency and bytes of an endpoint's READs, of all and by peer. A latency is the time from the post
 * of a request's first work request to the completion of its last one, in the attempt that
 * succeeded. A READ that was posted and missed its deadline counts with the time until then. Other
 * failed READs do not count.
 *
 * <p>The {@link ReadEngine} makes it, and records on its thread. Any thread reads. Nothing to
 * close.
 */
public final class ReadLatencies {
  private final LatencyHistogram all = new LatencyHistogram();
  private final Map<PeerAddress, LatencyHistogram> byPeer = new ConcurrentHashMap<>();

  ReadLatencies() {}

  /** Returns the latency of all READs since the start. */
  public LatencyHistogram all() {
    return all;
  }

  /**
   * Returns a view of the latencies of the peers that the engine remembers. It forgets a peer some
   * minutes after the last READ.
   */
  public Map<PeerAddress, LatencyHistogram> byPeer() {
    return Collections.unmodifiableMap(byPeer);
  }

  /** Returns the histogram of a peer that the engine now remembers. */
  LatencyHistogram known(PeerAddress peer) {
    return byPeer.computeIfAbsent(peer, _ -> new LatencyHistogram());
  }

  void forgotten(PeerAddress peer) {
    byPeer.remove(peer);
  }

  /**
   * Records a READ.
   *
   * @param bytes 0 if it missed its deadline
   */
  void took(Peer peer, long nanos, long bytes) {
    all.record(nanos, bytes);
    peer.latency().record(nanos, bytes);
  }
}
