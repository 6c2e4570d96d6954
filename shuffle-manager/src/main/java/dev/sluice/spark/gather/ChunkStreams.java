package dev.sluice.spark.gather;

import java.io.InputStream;
import java.util.NoSuchElementException;
import org.apache.spark.storage.BlockId;
import scala.Tuple2;

/**
 * Streams of a chunk: one over all members if their bytes may be read one after the other, else one
 * per member. Each stream is read and closed before the next one is taken. {@link GatheredBlocks}
 * makes it and uses it on the task's thread. It also calls {@link #release} when it takes the next
 * arrival, in case no stream has released the chunk.
 */
final class ChunkStreams {
  private final Chunk chunk;
  private final SparkReading spark;

  /** Index of the next member in the chunk. */
  private int next;

  ChunkStreams(Chunk chunk, SparkReading spark) {
    this.chunk = chunk;
    this.spark = spark;
  }

  /** Returns true if a member is left. Skips the members that are not in the chunk. */
  boolean hasNext() {
    while (next < chunk.ends().length && chunk.start(next) == chunk.ends()[next]) {
      next++; // The member is not in the chunk.
    }
    return next < chunk.ends().length;
  }

  /** Returns a stream and its first block. */
  Tuple2<BlockId, InputStream> next() {
    if (!hasNext()) {
      throw new NoSuchElementException();
    }
    int first = next;
    int end = spark.concatenates() ? chunk.ends().length : first + 1;
    next = end;
    return new Tuple2<>(
        chunk.group().blockId(chunk.firstMember() + first),
        // The last stream of a chunk releases it.
        new GatheredInputStream(chunk, first, end, !hasNext(), spark));
  }

  /** Releases the chunk's memory. A stream that is still open then throws. Idempotent. */
  void release() {
    chunk.release();
  }
}
