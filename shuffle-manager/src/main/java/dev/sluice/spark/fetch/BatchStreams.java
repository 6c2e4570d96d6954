// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.fetch;

import java.io.InputStream;
import java.util.NoSuchElementException;
import org.apache.spark.storage.BlockId;
import scala.Tuple2;

/**
 * Streams of a batch: one over all members if their bytes may be read one after the other, else one
 * per member. Each stream is read and closed before the next one is taken. {@link
 * RdmaBlockFetcherIterator} makes it and uses it on the task's thread. It also calls {@link
 * #release} when it takes the next arrival, in case no stream has released the batch.
 */
final class BatchStreams {
  private final FetchedBatch batch;
  private final SparkReading spark;

  /** Index of the next member in the batch. */
  private int next;

  BatchStreams(FetchedBatch batch, SparkReading spark) {
    this.batch = batch;
    this.spark = spark;
  }

  /** Returns true if a member is left. Skips the members that are not in the batch. */
  boolean hasNext() {
    while (next < batch.ends().length && batch.start(next) == batch.ends()[next]) {
      next++; // The member is not in the batch.
    }
    return next < batch.ends().length;
  }

  /** Returns a stream and its first block. */
  Tuple2<BlockId, InputStream> next() {
    if (!hasNext()) {
      throw new NoSuchElementException();
    }
    int first = next;
    int end = spark.concatenates() ? batch.ends().length : first + 1;
    next = end;
    return new Tuple2<>(
        batch.group().blockId(batch.firstMember() + first),
        // The last stream of a batch releases it.
        new DecodedBatchStream(batch, first, end, !hasNext(), spark));
  }

  /** Releases the batch's memory. A stream that is still open then throws. Idempotent. */
  void release() {
    batch.release();
  }
}
