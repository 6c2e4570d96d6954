// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.fetch;

import dev.sluice.rdma.TaskFailures;
import dev.sluice.rdma.transfer.PeerAddress;
import dev.sluice.rdma.transfer.PeerQuota;
import dev.sluice.spark.fetch.FetchBudget.Permit;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * State that the readers of one task share until the task ends: two staging slots at each peer, a
 * limit of bytes, and their end. {@link PerTask} makes it for each task, and ends it on the thread
 * that completes the task. Any thread. The lock guards only the open readers and the end, and no
 * reader is closed with it.
 *
 * <p>The limit bounds the bytes of remote batches that a task READs or holds. Readers with batches
 * to come have equal parts of it. A join or cogroup consumes its readers one after the other, and
 * none waits for the part of an idle reader.
 *
 * <p>Blocks that a reader leaves to Spark's ShuffleBlockFetcherIterators do not count here. They
 * are large, cannot be READ together, or are late. An iterator gets its limits when it is made,
 * before the task's other readers exist, and cannot return some of them. Each iterator therefore
 * has the limits of a stock reader, such as spark.reducer.maxSizeInFlight. It keeps no buffer from
 * others either: its READ bytes leave the pool when another reader waits ({@link
 * EvictableBuffers}).
 */
final class TaskReads {
  private static final Logger LOG = LoggerFactory.getLogger(TaskReads.class);

  /** Staging slots of a task at a peer: one request is staged while another is READ. */
  static final int MAX_STAGED = 2;

  private final long bytes;

  /** Staging slots in use at each peer. */
  private final PeerQuota<PeerAddress> slots = new PeerQuota<>(Long.MAX_VALUE, MAX_STAGED);

  /** Permits that wait for a staging slot. */
  private final Map<PeerAddress, Set<Permit>> waiting = new ConcurrentHashMap<>();

  /** Batches that were left to Spark while they are READ. */
  private final Set<TaskBatchRead> overtaken = ConcurrentHashMap.newKeySet();

  /** Number of readers that have batches to come. */
  private final AtomicInteger readers = new AtomicInteger();

  // Guarded by this.
  private final Set<BatchFetcher> open = new HashSet<>();
  private boolean ended;

  TaskReads(long bytes) {
    this.bytes = bytes;
  }

  long bytes() {
    return bytes;
  }

  /**
   * Runs {@code taker} when a staging slot at the peer is free for the permit. While the permit
   * waits, its deadline restarts whenever bytes arrive from the peer for this task, as it waits for
   * nothing else. If the peer gives nothing to the requests before it, it waits no longer than they
   * do.
   */
  void acquireSlot(PeerAddress peer, Permit permit, Runnable taker) {
    Set<Permit> atPeer = waiting(peer);
    atPeer.add(permit);
    slots.acquire(
        peer,
        1,
        () -> {
          atPeer.remove(permit);
          taker.run();
        });
  }

  /**
   * Frees a staging slot.
   *
   * @param arrived true if bytes have arrived
   */
  void releaseSlot(PeerAddress peer, boolean arrived) {
    if (arrived) {
      waiting(peer).forEach(Permit::extendDeadline);
    }
    slots.release(peer, 1);
  }

  private Set<Permit> waiting(PeerAddress peer) {
    return waiting.computeIfAbsent(peer, _ -> ConcurrentHashMap.newKeySet());
  }

  /** Notes a batch that is left to Spark while its READ is under way, until {@link #ended}. */
  void overtaken(TaskBatchRead batch) {
    overtaken.add(batch);
  }

  /** Notes the end of a READ that was overtaken. */
  void ended(TaskBatchRead batch) {
    overtaken.remove(batch);
  }

  /** Returns true if such a READ of the peer is under way. It may hold a staging slot. */
  boolean hasOvertaken(PeerAddress peer) {
    return overtaken.stream().anyMatch(batch -> batch.peer().equals(peer));
  }

  /** Tells the READs of these blocks that are under way of a request to Spark's transport. */
  void alsoFetched(String executorId, RequestedBlocks blocks, Relay relay) {
    overtaken.forEach(batch -> batch.alsoFetched(executorId, blocks, relay));
  }

  void enter() {
    readers.incrementAndGet();
  }

  void leave() {
    readers.decrementAndGet();
  }

  /** Returns a reader's part of the limit. A reader keeps earlier bytes until it consumes them. */
  long part() {
    return bytes / Math.max(1, readers.get());
  }

  /**
   * Holds a reader until {@link #remove}, and closes it when the task ends.
   *
   * @throws IllegalStateException if the task has ended
   */
  synchronized void add(BatchFetcher reader) {
    if (ended) {
      throw BatchFetcher.taskHasEnded();
    }
    open.add(reader);
  }

  /** Removes a reader, which holds nothing any more. */
  synchronized void remove(BatchFetcher reader) {
    open.remove(reader);
  }

  /** Ends the task: closes its readers, and refuses others from now on. */
  void end() {
    List<BatchFetcher> unfinished;
    synchronized (this) {
      ended = true;
      unfinished = List.copyOf(open);
    }
    for (BatchFetcher reader : unfinished) {
      try {
        reader.close();
      } catch (Throwable e) { // Errors too: others still have to close, and the task has ended.
        TaskFailures.log(LOG, "Closing a reader of an ended task failed", e);
      }
    }
  }

  /** Returns the number of open readers. */
  synchronized int open() {
    return open.size();
  }

  /** Returns the number of staging slots in use. */
  int slots() {
    return (int) slots.bytes();
  }
}
