// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.fetch;

import java.io.InputStream;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.util.Objects;
import java.util.function.Supplier;

/**
 * Stream over some of the blocks that lie one after the other in memory. No read goes beyond the
 * end of a block, so that a decoder of the bytes fails while the bad block is the last one read.
 * {@link DecodedBatchStream} and READ blocks of Spark's iterator make it. One thread, the task's as
 * a rule; closing it does nothing. A read asks for the memory before and after it copies.
 */
public final class BatchInputStream extends InputStream {
  private final Supplier<MemorySegment> memory;
  private final int[] ends;
  private final int last;
  private int index;
  private int position;

  /**
   * @param memory throws if the memory may no longer be read, as it has other bytes by then
   * @param ends end of each block
   * @param first index of the first block
   * @param end index after the last block
   */
  public BatchInputStream(Supplier<MemorySegment> memory, int[] ends, int first, int end) {
    this.memory = memory;
    this.ends = ends;
    this.last = end - 1;
    this.index = first;
    this.position = first == 0 ? 0 : ends[first - 1];
  }

  /** Returns the block that was read last. */
  int block() {
    return index;
  }

  @Override
  public int read() {
    if (remaining() == 0) {
      return -1;
    }
    byte next = memory.get().get(ValueLayout.JAVA_BYTE, position++);
    requireMemory();
    return Byte.toUnsignedInt(next);
  }

  @Override
  public int read(byte[] target, int offset, int length) {
    Objects.checkFromIndexSize(offset, length, target.length);
    if (length == 0) {
      return 0;
    }
    int count = Math.min(remaining(), length);
    if (count == 0) {
      return -1;
    }
    MemorySegment.copy(memory.get(), ValueLayout.JAVA_BYTE, position, target, offset, count);
    requireMemory();
    position += count;
    return count;
  }

  /**
   * Throws if the task has ended since the bytes were copied. The memory may have had other bytes
   * by then, and a thread that outlives its task must not take those for the block's.
   */
  private void requireMemory() {
    VarHandle.acquireFence(); // The copy comes before the check.
    MemorySegment _ = memory.get();
  }

  @Override
  public long skip(long count) {
    int skipped = count <= 0 ? 0 : (int) Math.min(count, remaining());
    position += skipped;
    return skipped;
  }

  /** Returns the bytes left of the block; 0 at its end, even if another block follows. */
  @Override
  public int available() {
    return ends[index] - position;
  }

  /** Returns the bytes left of the block, or at its end of the next one; 0 after the last. */
  private int remaining() {
    int next = index;
    while (position == ends[next] && next < last) {
      next++;
    }
    if (ends[next] > position) {
      index = next; // Otherwise only absent blocks follow.
    }
    return ends[index] - position;
  }
}
