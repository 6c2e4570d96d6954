package dev.sluice.spark.read;

import java.io.IOException;
import java.lang.foreign.MemorySegment;

/**
 * A block whose bytes come in slices, one after the other. {@link SlicedRead} uses it, on one
 * thread at a time, and ends it by {@link #finish} or {@link #abort}.
 */
abstract class PartialBlock {
  private long position;

  /** Bytes so far. */
  final long position() {
    return position;
  }

  final void append(MemorySegment slice) throws IOException {
    store(slice);
    position += slice.byteSize();
  }

  /** Takes the bytes that follow {@link #position}. */
  abstract void store(MemorySegment slice) throws IOException;

  /**
   * Hands the block to Spark, or to nobody where it was answered.
   *
   * @param staged whether it was READ from staging memory
   */
  abstract void finish(FetchCall call, boolean staged) throws IOException;

  /** Gives up what it holds, unless that is done. */
  abstract void abort();
}
