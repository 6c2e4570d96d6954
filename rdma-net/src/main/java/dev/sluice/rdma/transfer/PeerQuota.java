package dev.sluice.rdma.transfer;

import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Queue;

/**
 * Divides bytes among peers, so that one that is slow or greedy leaves something to the others. A
 * peer that has nothing yet gets what it asks for whatever its share is. Who waits is served in
 * turn, first come, first served for each peer. Any thread; never blocks; nothing to close.
 *
 * @param <P> what a peer is known by
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

  /** Those that somebody waits for, the one whose turn it is first. */
  private final LinkedHashMap<P, Share> turns = new LinkedHashMap<>();

  private final Handover<Runnable> granted = new Handover<>(Runnable::run);
  private long bytes;

  /**
   * @param maxBytes of all peers
   * @param maxPeerBytes of each
   */
  public PeerQuota(long maxBytes, long maxPeerBytes) {
    this.maxBytes = maxBytes;
    this.maxPeerBytes = maxPeerBytes;
  }

  /**
   * Runs {@code taker} once the peer may have so many bytes more: here, or on the thread that
   * releases some. It has them until {@link #release}.
   *
   * @return whether it need not wait
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
      Share share = shares.get(peer);
      share.bytes -= released;
      bytes -= released;
      if (share.bytes == 0 && share.waiting.isEmpty()) {
        shares.remove(peer);
      }
      grant();
    }
    granted.run();
  }

  /** Bytes that peers have. */
  public synchronized long bytes() {
    return bytes;
  }

  /** Gives each peer in turn what it may have, until nobody may have more. */
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
   * Whose turn it is: where all bytes are given away nobody passes the first who waits for some.
   */
  private Map.Entry<P, Share> next() {
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
