package dev.sluice.spark.gather;

import java.io.InputStream;
import java.util.List;
import org.apache.spark.storage.BlockId;
import scala.Tuple2;
import scala.collection.Iterator;

/** What of reading a task's blocks stays Spark's. Called on the task's thread. */
public interface SparkReading {
  /**
   * Begins to fetch blocks by an iterator of Spark's own.
   *
   * @param asker is told what of them is asked for, and answered
   */
  Iterator<Tuple2<BlockId, InputStream>> fetch(List<TrackedBlocks> blocks, SparkBlocks asker);

  /** spark.reducer.maxSizeInFlight: bytes that one such iterator has under way at most. */
  long maxBytesInFlight();

  /** Whether several blocks' bytes, one after the other, are what one block of them would be. */
  boolean concatenates();

  /** Decompresses a block: SerializerManager#wrapStream. */
  InputStream wrap(BlockId blockId, InputStream stream);

  /** spark.shuffle.detectCorrupt: an error of a wrapped stream is a failed fetch. */
  boolean detectsCorruption();
}
