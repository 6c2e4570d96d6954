package dev.sluice.spark.gather;

import java.io.InputStream;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.apache.spark.storage.BlockId;
import scala.Tuple2;
import scala.collection.Iterator;

/**
 * Blocks that an iterator of Spark's fetches. Only the task's thread may pull that iterator, and it
 * waits: so the iterator is pulled when it has an answer to give, which an arrival of this says, or
 * when nothing else is to come.
 */
public final class SparkBlocks implements Arrival {
  private final long bytes;
  private final Consumer<SparkBlocks> told;
  private final AtomicInteger unanswered = new AtomicInteger();
  private Iterator<Tuple2<BlockId, InputStream>> blocks;

  /**
   * @param bytes of all blocks, as estimated
   * @param told of each answer about a remote block, by any thread
   */
  SparkBlocks(long bytes, Consumer<SparkBlocks> told) {
    this.bytes = bytes;
    this.told = told;
  }

  long bytes() {
    return bytes;
  }

  /** The iterator asks for remote blocks. Any thread. */
  public void asked(int remote) {
    unanswered.addAndGet(remote);
  }

  /** The iterator has an answer about one of these: found or not. Any thread. */
  public void answered() {
    unanswered.decrementAndGet();
    told.accept(this);
  }

  /** Whether it will be told of an answer. */
  boolean isAnswerToCome() {
    return unanswered.get() > 0;
  }

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
