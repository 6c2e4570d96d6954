package dev.sluice.blocks.server;

import dev.sluice.blocks.server.StageRequest.Share;
import dev.sluice.rdma.transfer.BufferPool;
import dev.sluice.rdma.transfer.Handover;
import java.util.BitSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;

/**
 * Whose turn it is to be staged for: first come, first served, but who lacks something holds up
 * nobody who does not. A peer has its share of the memory at most, half of which is left to what it
 * wants from the page cache, and a lane ({@link StageLanes}) is read for so many requests at a
 * time, one of which is left to who waits longest. So a peer that does not say that it is done
 * holds up itself alone, and a disk that does not answer those who want its bytes: what it keeps
 * for longer than its reader waits is of no share, and no lease, any more.
 *
 * <p>Any thread; never blocks; nothing to close. When one comes or makes room, those who wait are
 * looked at as long as any lane that somebody waits for has room: where that is scarce these are
 * few, however many wait. Where shares are, it is all: some 20 us for a thousand.
 */
final class StageQueue {
  private final long maxPeerBytes;
  private final int[] maxReaders;

  /** Those that have their turn. */
  private final Handover<StageRequest> taken;

  // Guarded by this.
  private final Set<StageRequest> waiting = new LinkedHashSet<>();
  private final Set<StageRequest> begun = new HashSet<>();
  private final Map<Share, Long> shareBytes = new HashMap<>();

  /** Requests that have their turn and have not read it, of each lane. */
  private final int[] readers;

  /** Requests that wait, of each lane. */
  private final int[] wanted;

  /**
   * @param maxPeerBytes a peer's share; of what it has nothing of yet it gets what it asks for
   * @param maxReaders of each lane at a time: two or more
   * @param begin takes who has its turn, on the thread that adds it or makes room; must not block
   */
  StageQueue(long maxPeerBytes, int[] maxReaders, Consumer<StageRequest> begin) {
    this.maxPeerBytes = maxPeerBytes;
    this.maxReaders = maxReaders;
    this.readers = new int[maxReaders.length];
    this.wanted = new int[maxReaders.length];
    this.taken = new Handover<>(begin);
  }

  /**
   * Has the request begin when it is its turn, which ends with {@link #wasRead} of all its lanes
   * and with {@link #end}. One that has its answer is not queued: whoever gave it that has ended it
   * already, or does so next.
   *
   * @return whether it need not wait
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

  /** What a request wants of such lanes has been read, or is not to be. */
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
   * The request is not to have its turn any more, or has had it and what it asked for is nobody's
   * any more: of its peer's share it takes nothing. Idempotent.
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
      if (full.contains(request.share()) || !hasShare(request)) {
        full.add(request.share()); // What is large is not overtaken by what is small.
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

  /** Whether one more can be read of any lane that somebody waits for. */
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

  /** Whether it has one more, beside one for somebody who waits for it. */
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
