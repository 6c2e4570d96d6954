package dev.sluice.spark.gather;

import java.io.InputStream;
import java.util.NoSuchElementException;
import org.apache.spark.storage.BlockId;
import scala.Tuple2;

/**
 * The streams of a chunk: one of all its members where their bytes may be read one after the other,
 * else one of each, which is read and closed before the next one is taken. For the task's thread.
 */
final class ChunkStreams {
  private final Chunk chunk;
  private final SparkReading spark;
  private int next;

  ChunkStreams(Chunk chunk, SparkReading spark) {
    this.chunk = chunk;
    this.spark = spark;
  }

  boolean hasNext() {
    while (next < chunk.ends().length && chunk.start(next) == chunk.ends()[next]) {
      next++; // It is not in the chunk.
    }
    return next < chunk.ends().length;
  }

  /** The stream and its first block. */
  Tuple2<BlockId, InputStream> next() {
    if (!hasNext()) {
      throw new NoSuchElementException();
    }
    int first = next;
    int end = spark.concatenates() ? chunk.ends().length : first + 1;
    next = end;
    return new Tuple2<>(
        chunk.group().blockId(chunk.firstMember() + first),
        new GatheredInputStream(chunk, first, end, !hasNext(), spark));
  }

  /** Gives back the chunk's memory: what has been read of it so far was all. */
  void release() {
    chunk.release();
  }
}
