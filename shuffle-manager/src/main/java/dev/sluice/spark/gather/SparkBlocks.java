package dev.sluice.spark.gather;

import java.io.InputStream;
import org.apache.spark.storage.BlockId;
import scala.Tuple2;
import scala.collection.Iterator;

/**
 * Blocks that an iterator of Spark's fetches. Only the task's thread may pull that iterator, and it
 * waits: so the iterator is pulled when it has an answer to give, which an arrival of this says, or
 * when nothing else is to come.
 */
public final class SparkBlocks implements Arrival {
  private Iterator<Tuple2<BlockId, InputStream>> blocks;

  SparkBlocks() {}

  /** Before the first arrival is taken. */
  void are(Iterator<Tuple2<BlockId, InputStream>> fetched) {
    blocks = fetched;
  }

  boolean hasNext() {
    return blocks.hasNext();
  }

  /** Waits, unless there is an answer. */
  Tuple2<BlockId, InputStream> next() {
    return blocks.next();
  }
}
