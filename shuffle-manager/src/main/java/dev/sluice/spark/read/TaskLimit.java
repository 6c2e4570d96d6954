package dev.sluice.spark.read;

import dev.sluice.rdma.transfer.PeerAddress;
import dev.sluice.rdma.transfer.PeerQuota;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * What all that a task reads shares: requests that peers stage for, two for each, and bytes.
 *
 * <p>How many bytes of remote chunks a task READs or has waiting at most, in equal parts for those
 * of its readers that have chunks to come: of a join's or cogroup's readers one is consumed after
 * the other, and none waits for what an idle one holds. Any thread.
 *
 * <p>What a reader leaves to Spark's ShuffleBlockFetcherIterators, blocks that are large or that
 * cannot be READ together, is not counted here. Such an iterator is told its limits when it is
 * made, before the task's other readers are, and has no way to give some of them back: so each has
 * those that the stock reader's has, spark.reducer.maxSizeInFlight and the like. They cannot keep
 * others from buffers of the pool either: what is READ for them leaves it when somebody waits
 * ({@link ParkedBytes}).
 */
final class TaskLimit {
  /** One is staged while another is READ. */
  static final int MAX_STAGED = 2;

  private final long bytes;
  private final AtomicInteger readers = new AtomicInteger();

  /** Requests to stage that it has at peers; each of them counts one. */
  private final PeerQuota<PeerAddress> turns = new PeerQuota<>(Long.MAX_VALUE, MAX_STAGED);

  /** Those that have no turn. */
  private final Map<PeerAddress, Set<StagedBuffer>> waiting = new ConcurrentHashMap<>();

  TaskLimit(long bytes) {
    this.bytes = bytes;
  }

  long bytes() {
    return bytes;
  }

  /**
   * Runs {@code taker} when a peer may be asked to stage for the buffer. Until then it has its time
   * anew with all that comes from there for the task: it waits for nothing else. Behind those that
   * a peer gives nothing it waits no longer than they do.
   */
  void acquireTurn(PeerAddress peer, StagedBuffer buffer, Runnable taker) {
    Set<StagedBuffer> atPeer = waiting(peer);
    atPeer.add(buffer);
    turns.acquire(
        peer,
        1,
        () -> {
          atPeer.remove(buffer);
          taker.run();
        });
  }

  /**
   * @param arrived whether it has brought anything
   */
  void releaseTurn(PeerAddress peer, boolean arrived) {
    if (arrived) {
      waiting(peer).forEach(StagedBuffer::extendDeadline);
    }
    turns.release(peer, 1);
  }

  private Set<StagedBuffer> waiting(PeerAddress peer) {
    return waiting.computeIfAbsent(peer, _ -> ConcurrentHashMap.newKeySet());
  }

  void enter() {
    readers.incrementAndGet();
  }

  void leave() {
    readers.decrementAndGet();
  }

  /** A reader's. What one had before others entered it keeps until it is consumed. */
  long part() {
    return bytes / Math.max(1, readers.get());
  }
}
