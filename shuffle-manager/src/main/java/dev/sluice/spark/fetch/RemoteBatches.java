// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.fetch;

import org.jspecify.annotations.Nullable;

/**
 * Batch fetch of a reader's blocks of other executors. It also tells the reader of other arrivals,
 * in their order. {@code BatchFetcher} implements it. {@link RdmaBlockFetcherIterator} calls it on
 * the reader's thread, except for {@link #answered}. The reader closes it after reading everything,
 * or the end of the task does, on any thread and at any time. Closing releases all batches,
 * including those that the reader has.
 */
public interface RemoteBatches {
  /**
   * Starts to fetch the blocks of an executor in batches. Never blocks.
   *
   * @return false if it is known already that they cannot be fetched in batches, or are too large
   * @throws IllegalStateException if this is closed
   */
  boolean start(ExecutorBlocks group);

  /** Notes that Spark has found one of these blocks, or failed to. Any thread. */
  void answered(SparkBlocks blocks);

  /**
   * Takes the next arrival; null if nothing is there now.
   *
   * @throws IllegalStateException if this is closed
   */
  @Nullable Arrival poll();

  /**
   * Waits until there may be something to poll. May return earlier.
   *
   * @param room bytes that Spark's transfer may fetch of late batches
   * @return false if no batch will come any more, and nothing is there now
   * @throws IllegalStateException if this is closed
   */
  boolean await(long room) throws InterruptedException;

  /** Waits until Spark has an answer or this is closed. May return earlier. */
  void awaitAnswer() throws InterruptedException;

  /** Ends all fetches and releases all batches. Idempotent. */
  void close();

  /**
   * Event for a task that waits for blocks. {@link RemoteBatches#poll} returns events in the order
   * in which they happen.
   */
  public sealed interface Arrival permits FetchedBatch, SparkBlocks {}
}
