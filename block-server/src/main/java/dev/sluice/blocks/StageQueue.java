package dev.sluice.blocks;

import dev.sluice.rdma.transfer.Handover;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;

/**
 * Whose turn it is to be staged for: first come, first served, but who lacks something holds up
 * nobody who does not. A peer has its share of the memory at most, and a local directory is read
 * for so many requests at a time. So a peer that does not say that it is done holds up itself
 * alone, and a disk that does not answer those who want its bytes.
 *
 * <p>What the page cache has and what it has not has no queues of its own: a request is for pieces
 * of many files, and as slow as the slowest of them.
 *
 * <p>Any thread; never blocks; nothing to close. All who wait are looked at when one has made room:
 * some 10 us for a thousand.
 */
final class StageQueue {
  private final long maxPeerBytes;
  private final int maxReaders;

  /** Those that have their turn. */
  private final Handover<StageRequest> taken;

  // Guarded by this.
  private final Set<StageRequest> waiting = new LinkedHashSet<>();
  private final Map<Object, Long> peerBytes = new HashMap<>();

  /** Requests that have their turn and have not read it, of each directory. */
  private final int[] readers = new int[Long.SIZE];

  /**
   * @param maxPeerBytes a peer's share; one that has nothing yet gets what it asks for
   * @param maxReaders of a directory at a time
   * @param begin takes who has its turn, on the thread that adds it or makes room; must not block
   */
  StageQueue(long maxPeerBytes, int maxReaders, Consumer<StageRequest> begin) {
    this.maxPeerBytes = maxPeerBytes;
    this.maxReaders = maxReaders;
    this.taken = new Handover<>(begin);
  }

  /**
   * Has the request begin when it is its turn, which ends with {@link #wasRead} of all its
   * directories and with {@link #release}.
   *
   * @return whether it need not wait
   */
  boolean add(StageRequest request) {
    boolean atOnce;
    synchronized (this) {
      atOnce = take(request);
      if (atOnce) {
        taken.add(request);
      } else {
        waiting.add(request);
      }
    }
    taken.run();
    return atOnce;
  }

  /** The request is not to have its turn any more, unless it has had it. */
  synchronized void remove(StageRequest request) {
    waiting.remove(request);
  }

  /**
   * What a request wants of such directories has been read, or is not to be.
   *
   * @param directories a bit for each
   */
  void wasRead(long directories) {
    synchronized (this) {
      for (long left = directories; left != 0; left &= left - 1) {
        readers[Long.numberOfTrailingZeros(left)]--;
      }
      takeAll();
    }
    taken.run();
  }

  /** The peer has so much less. */
  void release(Object peer, long bytes) {
    synchronized (this) {
      peerBytes.computeIfPresent(peer, (_, before) -> before == bytes ? null : before - bytes);
      takeAll();
    }
    taken.run();
  }

  private void takeAll() {
    for (Iterator<StageRequest> i = waiting.iterator(); i.hasNext(); ) {
      StageRequest request = i.next();
      if (take(request)) {
        i.remove();
        taken.add(request);
      }
    }
  }

  private boolean take(StageRequest request) {
    long before = peerBytes.getOrDefault(request.peer(), 0L);
    long directories = request.directories();
    if ((before > 0 && before + request.bytes() > maxPeerBytes) || !haveRoom(directories)) {
      return false;
    }
    for (long left = directories; left != 0; left &= left - 1) {
      readers[Long.numberOfTrailingZeros(left)]++;
    }
    peerBytes.put(request.peer(), before + request.bytes());
    return true;
  }

  private boolean haveRoom(long directories) {
    for (long left = directories; left != 0; left &= left - 1) {
      if (readers[Long.numberOfTrailingZeros(left)] >= maxReaders) {
        return false;
      }
    }
    return true;
  }
}
