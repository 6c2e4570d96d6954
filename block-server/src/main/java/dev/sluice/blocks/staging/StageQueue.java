// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.staging;

import dev.sluice.blocks.staging.StageRequest.Share;
import dev.sluice.rdma.transfer.BufferPool;
import dev.sluice.rdma.transfer.DeferredResults;
import java.util.BitSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;

/**
 * Admission queue of a {@link Stager}, which creates it. First come, first served, except that a
 * request that waits for one resource does not hold up requests that need another one.
 *
 * <p>There are two resources. A peer has at most its share of the memory; cold requests use at most
 * half of that, which leaves the rest for bytes in the page cache. A lane ({@link StageLanes})
 * reads a fixed number of requests at a time, and keeps one place for the request that has waited
 * longest. A peer that never reports that it is done therefore holds up only itself. A disk that
 * does not answer holds up only requests for its bytes: memory that it keeps after the reader's
 * deadline leaves the peer's share and gets no lease.
 *
 * <p>Any thread; never blocks; nothing to close. Admitted requests are handed over without the
 * lock, as {@link DeferredResults} says. Each request that comes or makes room starts a scan of the
 * waiting requests, which ends when no lane that they need has room. The scan is short where lanes
 * are scarce, however many requests wait. Where shares are scarce it covers all: some 20 us for
 * 1,000 requests.
 */
final class StageQueue {
  private final long maxPeerBytes;
  private final int[] maxReaders;

  /** Admitted requests, on their way to the stager. */
  private final DeferredResults<StageRequest> taken;

  // Guarded by this.
  private final Set<StageRequest> waiting = new LinkedHashSet<>();
  private final Set<StageRequest> begun = new HashSet<>();
  private final Map<Share, Long> shareBytes = new HashMap<>();

  /** Number of admitted requests that have not been read yet, by lane. */
  private final int[] readers;

  /** Number of waiting requests, by lane. */
  private final int[] wanted;

  /**
   * @param maxPeerBytes a peer's share; an empty one, hot or cold, admits any request
   * @param maxReaders limit of each lane: two or more
   * @param begin takes an admitted request, on the thread that adds it or makes room; never blocks
   */
  StageQueue(long maxPeerBytes, int[] maxReaders, Consumer<StageRequest> begin) {
    this.maxPeerBytes = maxPeerBytes;
    this.maxReaders = maxReaders;
    this.readers = new int[maxReaders.length];
    this.wanted = new int[maxReaders.length];
    this.taken = new DeferredResults<>(begin);
  }

  /**
   * Queues a request. Once admitted, it holds its lanes until {@link #wasRead} and its share until
   * {@link #end}. A request that has been answered is not queued: the thread that answered it has
   * ended it already, or is about to.
   *
   * @return true if the request need not wait
   */
  boolean add(StageRequest request) {
    boolean atOnce;
    synchronized (this) {
      if (!request.isAnswered()) {
        waiting.add(request);
        count(wanted, request, 1);
        takeAll();
      }
      atOnce = !waiting.contains(request);
    }
    taken.run();
    return atOnce;
  }

  /** Frees a place in each lane: the request's part there has been read, or will not be read. */
  void wasRead(int... lanes) {
    synchronized (this) {
      for (int lane : lanes) {
        readers[lane]--;
      }
      takeAll();
    }
    taken.run();
  }

  /**
   * Ends a request: takes it out of the queue, or gives its memory back to its peer's share.
   * Idempotent.
   */
  void end(StageRequest request) {
    synchronized (this) {
      if (waiting.remove(request)) {
        count(wanted, request, -1);
      }
      if (begun.remove(request)) {
        long room = BufferPool.roomBytes(request.bytes());
        shareBytes.computeIfPresent(
            request.share(), (_, before) -> before == room ? null : before - room);
      }
      takeAll();
    }
    taken.run();
  }

  private void takeAll() {
    Set<Share> full = new HashSet<>();
    BitSet awaited = new BitSet();
    for (Iterator<StageRequest> i = waiting.iterator(); i.hasNext() && anyHasRoom(awaited); ) {
      StageRequest request = i.next();
      if (request.bytes() > 0 && (full.contains(request.share()) || !hasShare(request))) {
        full.add(request.share()); // Small requests do not overtake a large one.
      } else if (hasReaders(request, awaited)) {
        i.remove();
        take(request);
      } else {
        for (int lane : request.lanes()) {
          awaited.set(lane);
        }
      }
    }
  }

  private boolean hasShare(StageRequest request) {
    Share share = request.share();
    long own = shareBytes.getOrDefault(share, 0L);
    long rest = shareBytes.getOrDefault(new Share(share.peer(), !share.cold()), 0L);
    long wanted = own + BufferPool.roomBytes(request.bytes());
    return own == 0
        || (wanted + rest <= maxPeerBytes && (!share.cold() || wanted <= maxPeerBytes / 2));
  }

  /** Returns true if any lane with waiting requests has room for one more. */
  private boolean anyHasRoom(BitSet awaited) {
    for (int lane = 0; lane < wanted.length; lane++) {
      if (wanted[lane] > 0 && hasRoom(lane, awaited)) {
        return true;
      }
    }
    return false;
  }

  private boolean hasReaders(StageRequest request, BitSet awaited) {
    for (int lane : request.lanes()) {
      if (!hasRoom(lane, awaited)) {
        return false;
      }
    }
    return true;
  }

  /** Returns true if the lane has room, not counting a place kept for an earlier request. */
  private boolean hasRoom(int lane, BitSet awaited) {
    return readers[lane] + (awaited.get(lane) ? 1 : 0) < maxReaders[lane];
  }

  private static void count(int[] requests, StageRequest request, int change) {
    for (int lane : request.lanes()) {
      requests[lane] += change;
    }
  }

  private void take(StageRequest request) {
    count(wanted, request, -1);
    count(readers, request, 1);
    shareBytes.merge(request.share(), BufferPool.roomBytes(request.bytes()), Long::sum);
    begun.add(request);
    taken.add(request);
  }
}
