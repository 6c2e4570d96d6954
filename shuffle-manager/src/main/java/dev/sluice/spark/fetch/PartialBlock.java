// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.fetch;

import java.io.IOException;
import java.lang.foreign.MemorySegment;

/**
 * A block whose bytes come in slices, one after the other. {@link LargeBlockRead} makes and uses
 * it, on one delivery thread at a time, and ends it by {@link #finish} or {@link #abort}. If {@code
 * finish} throws, it calls {@code abort} as well, which frees the bytes that were not handed over.
 */
abstract class PartialBlock {
  private long position;

  /** Returns the number of bytes so far. */
  final long position() {
    return position;
  }

  final void append(MemorySegment slice) throws IOException {
    store(slice);
    position += slice.byteSize();
  }

  /** Stores the bytes that follow {@link #position}. */
  abstract void store(MemorySegment slice) throws IOException;

  /**
   * Hands the block to Spark, or discards it if it has its answer.
   *
   * @param staged true if the block was READ from staging memory
   */
  abstract void finish(FetchCall call, boolean staged) throws IOException;

  /** Frees the partial block, unless it has ended before. */
  abstract void abort();
}
