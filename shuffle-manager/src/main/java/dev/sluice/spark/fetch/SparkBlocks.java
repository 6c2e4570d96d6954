// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.fetch;

import dev.sluice.spark.fetch.RemoteBatches.Arrival;
import java.io.InputStream;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.apache.spark.storage.BlockId;
import scala.Tuple2;
import scala.collection.Iterator;

/**
 * Blocks that one of Spark's iterators fetches. Only the task's thread may pull that iterator, and
 * a pull waits. It is therefore pulled when it has an answer, as an arrival of this object says, or
 * when nothing else is to come.
 *
 * <p>{@link RdmaBlockFetcherIterator} makes and pulls it. The block store client of its iterator
 * calls {@link #asked} and {@link #answered}, possibly before {@link #are}.
 */
public final class SparkBlocks implements Arrival, BatchFetcher.Arrived {
  private final long bytes;
  private final int count;
  private final boolean late;
  private final Consumer<SparkBlocks> told;
  private final AtomicInteger unanswered = new AtomicInteger();

  @SuppressWarnings("NullAway.Init") // set before the first call of next() or hasNext()
  private Iterator<Tuple2<BlockId, InputStream>> blocks;

  /** Number of blocks that the task has. */
  private int taken;

  /**
   * @param bytes estimated size of all blocks
   * @param count number of blocks; Spark may fetch some of them as one
   * @param late true if READs of the blocks are late, so that they are not READ again
   * @param told told of each answer about a remote block, on any thread
   */
  SparkBlocks(long bytes, int count, boolean late, Consumer<SparkBlocks> told) {
    this.bytes = bytes;
    this.count = count;
    this.late = late;
    this.told = told;
  }

  /** Returns the estimated size of the blocks that the task does not have yet. */
  long bytesLeft() {
    return count == 0 ? 0 : bytes - bytes * taken / count;
  }

  boolean areLate() {
    return late;
  }

  /** Notes that the iterator requests remote blocks. Any thread. */
  public void asked(int remote) {
    unanswered.addAndGet(remote);
  }

  /** Notes that the iterator has found one of these blocks, or failed to. Any thread. */
  public void answered() {
    unanswered.decrementAndGet();
    told.accept(this);
  }

  /** Returns true if an answer is still to come. */
  boolean isAnswerToCome() {
    return unanswered.get() > 0;
  }

  /** Sets the iterator, before the first arrival is taken. */
  void are(Iterator<Tuple2<BlockId, InputStream>> fetched) {
    blocks = fetched;
  }

  boolean hasNext() {
    return blocks.hasNext();
  }

  /** Returns the next block. Waits if there is no answer. */
  Tuple2<BlockId, InputStream> next() {
    taken++;
    return blocks.next();
  }
}
