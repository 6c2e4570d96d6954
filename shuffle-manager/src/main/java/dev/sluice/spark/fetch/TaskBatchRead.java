// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.fetch;

import dev.sluice.spark.table.LocatedBlocks;
import dev.sluice.spark.table.LocatedBlocks.Span;
import dev.sluice.spark.transport.FallbackReason;
import dev.sluice.spark.transport.ReadTransport;
import org.jspecify.annotations.Nullable;

/**
 * READs members of a group for {@link BatchFetcher}, which makes it. The task verifies the bytes on
 * its own thread. The resulting {@link FetchedBatch} owns them; they may have left the buffer pool
 * by then. BatchFetcher calls {@link #begin} and {@link #leave} with its lock, and {@link #start}
 * without it. The thread that ended the READ writes the plain fields; BatchFetcher's queue, under
 * that lock, hands them over to the task's thread.
 */
final class TaskBatchRead implements BatchFetcher.Step, BatchFetcher.Arrived, BatchRead.Sink {
  private final FetchContext path;
  private final BatchFetcher task;
  private final ExecutorBlocks group;
  private final LocatedBlocks located;
  private final Span span;
  private final BatchRead read;
  private long startNanos;
  private volatile long deadlineNanos;
  private long requestNanos;

  /** Blocks that arrived; all of the span before. Changes with the task's lock. */
  private Span there;

  /** Bytes that arrived, with one reference, which the batch's release gives back. */
  @SuppressWarnings("NullAway.Init") // set by arrived()
  private RdmaManagedBuffer bytes;

  TaskBatchRead(
      FetchContext path,
      BatchFetcher task,
      ExecutorBlocks group,
      LocatedBlocks located,
      Span span) {
    this.path = path;
    this.task = task;
    this.group = group;
    this.located = located;
    this.span = span;
    this.read = new BatchRead(path, located, span, this);
    this.there = span;
  }

  ExecutorBlocks group() {
    return group;
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
  public void leave() {
    group.leave(located.all(there));
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
    read.start(task.task());
  }

  /** Tells the peer that the shuffle is in use, so that it keeps the map outputs registered. */
  void touch() {
    path.transport().touch(located.peer(), group.shuffleId());
  }

  @Override
  public boolean awaits() {
    return task.awaits(this);
  }

  @Override
  public void arrived(ReadTransport.Buffer buffer, Span arrived) {
    requestNanos = path.timer().nanoTime() - startNanos;
    if (arrived.bytes() > 0) {
      SharedBytes shared = new SharedBytes(path.parked(), buffer, arrived.bytes());
      bytes = shared.block(0, arrived.bytes());
      shared.complete();
    } else {
      buffer.release();
    }
    if (!task.arrived(this, arrived) && arrived.bytes() > 0) {
      bytes.release();
    }
  }

  /** Returns the blocks that it wants; not all of them may have arrived. */
  Span span() {
    return span;
  }

  LocatedBlocks located() {
    return located;
  }

  @Override
  public void failed(FallbackReason reason) {
    if (reason == FallbackReason.STALE_LOCATION) {
      path.deliverer().execute(() -> path.locator().forget(located, located.all(span)));
    }
    task.giveUp(this, reason);
  }

  /**
   * Returns the batch. Null if its bytes are not the written ones; Spark then fetches its members.
   * The task's thread calls it after the bytes have arrived.
   */
  @Nullable FetchedBatch verify() {
    boolean wrong;
    try {
      wrong = !read.mismatches(bytes.open(), there).isEmpty();
    } catch (RuntimeException | Error e) {
      bytes.release();
      throw e;
    }
    touch();
    if (!wrong) {
      return batch();
    }
    bytes.release();
    task.wrong(this); // Spark's iterator READs each block again
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
          group, there.from(), located.ends(there), bytes.open(), way, this::release);
    } catch (RuntimeException | Error e) {
      bytes.release();
      throw e;
    }
  }

  private void release(FetchedBatch batch) {
    bytes.release();
    task.released(this, batch);
  }

  @Override
  public String toString() {
    return read.toString();
  }
}
