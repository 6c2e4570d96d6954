// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.fetch;

import java.io.InputStream;
import java.util.List;
import org.apache.spark.storage.BlockId;
import scala.Tuple2;
import scala.collection.Iterator;

/**
 * Parts of reading that Spark does for a task. {@code RdmaShuffleReader} implements it; {@link
 * RdmaBlockFetcherIterator} and its streams call it, on the task's thread as a rule.
 */
public interface SparkReading {
  /**
   * Starts to fetch blocks by an iterator of Spark's own.
   *
   * @param asker told of requests and answers
   */
  Iterator<Tuple2<BlockId, InputStream>> fetch(List<BlocksByAddress> blocks, SparkBlocks asker);

  /** Returns the bytes that one such iterator may have under way: spark.reducer.maxSizeInFlight. */
  long maxBytesInFlight();

  /** Returns true if the bytes of several blocks, one after the other, can be read as one block. */
  boolean concatenates();

  /** Decompresses a block by SerializerManager#wrapStream. */
  InputStream wrap(BlockId blockId, InputStream stream);

  /** Returns true if an error of a wrapped stream fails the fetch (spark.shuffle.detectCorrupt). */
  boolean detectsCorruption();
}
