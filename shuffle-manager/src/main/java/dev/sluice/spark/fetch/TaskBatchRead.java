// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.fetch;

import dev.sluice.rdma.transfer.PeerAddress;
import dev.sluice.spark.fetch.FetchBudget.Permit;
import dev.sluice.spark.table.LocatedBlocks;
import dev.sluice.spark.table.Span;
import dev.sluice.spark.transport.FallbackReason;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * READs members of a group for {@link BatchFetcher}, which makes it. The task verifies the bytes on
 * its own thread. The resulting {@link FetchedBatch} owns them; they may have left the buffer pool
 * by then. BatchFetcher calls {@link #begin} and {@link #leave} with its lock, and {@link #start}
 * without it. The thread that ended the READ writes the plain fields; BatchFetcher's queue, under
 * that lock, hands them over to the task's thread.
 */
final class TaskBatchRead
    implements BatchFetcher.Step, BatchFetcher.Arrived, FetchBudget.Request, RangeFetch.Sink {
  private static final Logger LOG = LoggerFactory.getLogger(TaskBatchRead.class);

  private final FetchContext path;
  private final BatchFetcher fetcher;
  private final GroupFetch group;
  private final LocatedBlocks located;
  private final Span span;
  private final RangeFetch fetch;
  private final LateReads.Read read;
  private long startNanos;
  private volatile long deadlineNanos;
  private long requestNanos;

  /** Blocks that arrived; all of the span before. Changes with the task's lock. */
  private Span there;

  /** Memory of the bytes that arrived. */
  @SuppressWarnings("NullAway.Init") // set by arrived(), as the next field is
  private SharedBytes shared;

  /** Bytes that arrived, with one reference, which the batch's release gives back. */
  @SuppressWarnings("NullAway.Init")
  private RdmaManagedBuffer bytes;

  /** A request to Spark's transport for one of the blocks. Two readers of a task may want it. */
  private record Also(int member, Relay relay, String blockId) {
    boolean isOutstanding() {
      return relay.isOutstanding(blockId);
    }
  }

  /** Guarded by itself, as the next field is. */
  private final List<Also> also = new ArrayList<>();

  /** True if the READ has ended, so that no further request waits for it. */
  private boolean isOver;

  TaskBatchRead(FetchContext path, BatchFetcher fetcher, GroupFetch group, Span span) {
    this.path = path;
    this.fetcher = fetcher;
    this.group = group;
    this.located = span.located();
    this.span = span;
    this.fetch = new RangeFetch(path, this, span, this);
    this.read = path.lateReads().new Read(located.peer().id(), span.bytes());
    this.there = span;
  }

  ExecutorBlocks group() {
    return group.group();
  }

  @Override
  public int bytes() {
    return span.bytes();
  }

  boolean isStaged() {
    return span.isStaged();
  }

  @Override
  public long deadlineNanos() {
    return deadlineNanos;
  }

  @Override
  public void leave(FallbackReason reason) {
    BitSet members = there.all();
    if (reason == FallbackReason.LATE) {
      group().leaveLate(members);
    } else {
      group().leave(members);
    }
  }

  /** Takes note of the blocks that arrived. Called with the task's lock. */
  void there(Span arrived) {
    there = arrived;
  }

  /** Starts the time to the deadline. */
  void begin() {
    startNanos = path.timer().nanoTime();
    extendDeadline();
  }

  @Override
  public void extendDeadline() {
    deadlineNanos = path.deadlineNanos();
  }

  void start() {
    fetch.start();
  }

  /** Returns true if Spark's transfer should fetch the blocks from the start. */
  boolean isAvoided() {
    return path.lateReads().avoids(peer().id(), () -> path.sparkTransfer().peer(group().address()));
  }

  /**
   * Asks to leave this to Spark, as {@link LateReads.Read#overtake} does. The READ goes on: its
   * bytes still answer Spark's requests for the blocks, if they come first.
   */
  private boolean overtake() {
    boolean isOvertaken = read.overtake();
    if (isOvertaken) {
      task().overtaken(this);
      if (!read.isOvertaken()) { // It has ended meanwhile.
        task().ended(this);
      }
    }
    return isOvertaken;
  }

  /** Notes a request to Spark's transport, which may be for some of these blocks. */
  void alsoFetched(String executorId, RequestedBlocks blocks, Relay relay) {
    ExecutorBlocks members = group();
    if (!members.address().executorId().equals(executorId)
        || members.shuffleId() != blocks.shuffleId()) {
      return;
    }
    synchronized (also) {
      if (isOver) {
        return;
      }
      for (int member = span.from(); member < span.to(); member++) {
        RequestedBlock block =
            blocks.find(
                members.mapId(member),
                members.startPartition(member),
                members.endPartition(member));
        if (block != null && relay.awaitsRead(block.id())) {
          also.add(new Also(member, relay, block.id()));
        }
      }
    }
  }

  private boolean isAlsoWanted() {
    synchronized (also) {
      return also.stream().anyMatch(Also::isOutstanding);
    }
  }

  /** Ends the READ for the requests to Spark's transport. Called once, whatever has happened. */
  private void endAlso() {
    List<Also> all;
    synchronized (also) {
      isOver = true;
      all = List.copyOf(also);
    }
    all.forEach(each -> each.relay().readEnded(each.blockId()));
  }

  /** Answers the requests to Spark's transport, and ends the READ for them. */
  private void answerAlso(Span arrived) {
    try {
      answer(arrived);
    } catch (RuntimeException | Error e) {
      LOG.error("Answering with {} failed unexpectedly", this, e);
    } finally {
      bytes.release();
      endAlso();
    }
  }

  /** Answers with the blocks whose bytes are right. */
  private void answer(Span arrived) {
    List<Also> all;
    synchronized (also) {
      all = List.copyOf(also);
    }
    BitSet wrong = BlockVerifier.mismatches(path, arrived, bytes.open());
    int[] ends = arrived.ends();
    for (Also each : all) {
      int i = each.member() - arrived.from();
      if (i < 0 || i >= ends.length || wrong.get(each.member())) {
        continue;
      }
      int start = i == 0 ? 0 : ends[i - 1];
      if (ends[i] > start) {
        RdmaManagedBuffer block = shared.block(start, ends[i] - start);
        each.relay().read(each.blockId(), block, arrived.isStaged());
      }
    }
  }

  @Override
  public long estimatedBytes() {
    return Math.max(span.bytes(), (span.to() - span.from()) * group().meanBytes());
  }

  @Override
  public boolean isLate() {
    return isHeldUp() || overtake();
  }

  /**
   * Returns true if the READ has not begun and will not: it may have waited for late READs to end,
   * and would be late itself.
   */
  private boolean isHeldUp() {
    return (path.lateReads().isAvoided(peer().id()) || task().hasOvertaken(peer())) && read.leave();
  }

  PeerAddress peer() {
    return located.peer();
  }

  @Override
  public boolean readBegins() {
    return read.begin();
  }

  @Override
  public void readEnded(int bytes) {
    read.end(bytes);
  }

  /** Notes that no more is READ, so that the buffer is not held any more. */
  private void over() {
    read.close();
    task().ended(this);
  }

  /** Tells the peer that the shuffle is in use, so that it keeps the map outputs registered. */
  void touch() {
    path.transport().touch(located.peer(), located.blocks().shuffleId());
  }

  @Override
  public TaskReads task() {
    return fetcher.task();
  }

  @Override
  public boolean awaits() {
    return fetcher.awaits(this) || isAlsoWanted();
  }

  @Override
  public void arrived(Permit permit, Span arrived) {
    over();
    try {
      if (!take(permit, arrived)) {
        endAlso();
      }
    } catch (RuntimeException | Error e) { // A failure of Spark's transport may wait for this end.
      endAlso();
      throw e;
    }
  }

  /**
   * Takes the bytes for the task, or for requests to Spark's transport.
   *
   * @return false if nothing wants them
   */
  private boolean take(Permit permit, Span arrived) {
    requestNanos = path.timer().nanoTime() - startNanos;
    boolean hasBytes = arrived.bytes() > 0;
    if (hasBytes) {
      shared = new SharedBytes(path.parked(), permit.take(), arrived.bytes());
      bytes = shared.block(0, arrived.bytes());
      shared.complete();
    } else {
      permit.take().release();
    }
    if (fetcher.arrived(this, arrived)) {
      return true;
    }
    boolean isAlsoWanted = hasBytes && isAlsoWanted();
    if (isAlsoWanted) {
      path.deliverer().execute(() -> answerAlso(arrived));
    } else if (hasBytes) {
      bytes.release();
    }
    return isAlsoWanted;
  }

  /** Returns batches of the blocks that did not fit. */
  List<TaskBatchRead> rest(Span arrived) {
    return span.isStaged() ? group.rest(span, arrived) : List.of();
  }

  @Override
  public void failed(FallbackReason reason) {
    if (reason == FallbackReason.STALE_LOCATION) {
      path.deliverer().execute(() -> path.locator().forget(located, span.all()));
    }
    try {
      over();
      fetcher.giveUp(this, reason);
    } finally {
      endAlso();
    }
  }

  @Override
  public void dropped() {
    try {
      over();
    } finally {
      endAlso();
    }
  }

  /**
   * Returns the batch. Null if its bytes are not the written ones; Spark then fetches its members.
   * The task's thread calls it after the bytes have arrived.
   */
  @Nullable FetchedBatch verify() {
    boolean wrong;
    try {
      wrong = !BlockVerifier.mismatches(path, there, bytes.open()).isEmpty();
    } catch (RuntimeException | Error e) {
      bytes.release();
      throw e;
    }
    touch();
    if (!wrong) {
      return batch();
    }
    bytes.release();
    fetcher.wrong(this); // Spark's iterator READs each block again
    return null;
  }

  /**
   * Makes a batch of all bytes that arrived. Its release frees the bytes and their part of the
   * limit. If the batch cannot be made, the bytes are released at once.
   */
  FetchedBatch batch() {
    try {
      FetchedBatch.Way way =
          new FetchedBatch.Way(requestNanos, there.isStaged() ? there.bytes() : 0);
      return new FetchedBatch(
          group(), there.from(), there.ends(), bytes.open(), way, this::release);
    } catch (RuntimeException | Error e) {
      bytes.release();
      throw e;
    }
  }

  private void release(FetchedBatch batch) {
    bytes.release();
    fetcher.released(this, batch);
  }

  @Override
  public String toString() {
    return "a batch of " + fetch;
  }
}
