// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.transfer;

import static java.util.Objects.requireNonNull;

import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Queue;
import org.jspecify.annotations.Nullable;

/**
 * Divides bytes among peers, so that a slow or greedy peer leaves some to the others. A peer that
 * holds nothing gets its request even beyond its share. Waiting peers are served in turn, and each
 * peer's requests first come, first served. Clients of block servers, fetching tasks, and the
 * client of Spark's fetches create their own. Any thread; never blocks; nothing to close. Takers
 * run without the lock. Each granted request needs one {@link #release} of the same bytes.
 *
 * @param <P> key of a peer
 */
public final class PeerQuota<P> {
  private record Waiter(long bytes, Runnable taker) {}

  private static final class Share {
    final Queue<Waiter> waiting = new ArrayDeque<>();
    long bytes;
  }

  private final long maxBytes;
  private final long maxPeerBytes;

  // Guarded by this.
  private final Map<P, Share> shares = new HashMap<>();

  /** Peers with waiting requests, next turn first. */
  private final LinkedHashMap<P, Share> turns = new LinkedHashMap<>();

  private final DeferredResults<Runnable> granted = new DeferredResults<>(Runnable::run);
  private long bytes;

  /**
   * @param maxBytes limit of all peers together
   * @param maxPeerBytes limit of each peer
   */
  public PeerQuota(long maxBytes, long maxPeerBytes) {
    this.maxBytes = maxBytes;
    this.maxPeerBytes = maxPeerBytes;
  }

  /**
   * Runs {@code taker} once the peer may have so many bytes more: on this thread, or on the thread
   * that releases some. The peer holds them until {@link #release}.
   *
   * @return true if it need not wait
   */
  public boolean acquire(P peer, long wanted, Runnable taker) {
    boolean atOnce;
    synchronized (this) {
      Share share = shares.computeIfAbsent(peer, _ -> new Share());
      share.waiting.add(new Waiter(wanted, taker));
      turns.putIfAbsent(peer, share);
      grant();
      atOnce = share.waiting.isEmpty();
    }
    granted.run();
    return atOnce;
  }

  public void release(P peer, long released) {
    synchronized (this) {
      Share share = requireNonNull(shares.get(peer));
      share.bytes -= released;
      bytes -= released;
      if (share.bytes == 0 && share.waiting.isEmpty()) {
        shares.remove(peer);
      }
      grant();
    }
    granted.run();
  }

  /** Bytes that all peers hold. */
  public synchronized long bytes() {
    return bytes;
  }

  /** Grants waiting requests, peer by peer in turn, until a limit is reached. */
  private void grant() {
    Map.Entry<P, Share> next = next();
    while (next != null) {
      Share share = next.getValue();
      turns.remove(next.getKey());
      Waiter waiter = share.waiting.remove();
      bytes += waiter.bytes();
      share.bytes += waiter.bytes();
      granted.add(waiter.taker());
      if (!share.waiting.isEmpty()) {
        turns.put(next.getKey(), share);
      }
      next = next();
    }
  }

  /**
   * Returns the next peer in turn whose share allows its request. Returns null if there is none, or
   * if the request exceeds the limit of all peers together: no other peer overtakes it.
   */
  private Map.@Nullable Entry<P, Share> next() {
    for (Map.Entry<P, Share> turn : turns.entrySet()) {
      Share share = turn.getValue();
      long wanted = share.waiting.element().bytes();
      if (share.bytes == 0 || share.bytes + wanted <= maxPeerBytes) {
        return bytes == 0 || bytes + wanted <= maxBytes ? turn : null;
      }
    }
    return null;
  }
}
