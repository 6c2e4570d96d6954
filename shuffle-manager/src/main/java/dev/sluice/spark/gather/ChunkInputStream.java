package dev.sluice.spark.gather;

import java.io.InputStream;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Objects;
import java.util.function.Supplier;

/**
 * The bytes of some of the blocks that lie one after the other in memory. No read goes beyond the
 * end of a block, so that whatever decodes the bytes fails while the block that is wrong is the one
 * read last. For one thread; closing it does nothing.
 */
public final class ChunkInputStream extends InputStream {
  private final Supplier<MemorySegment> memory;
  private final int[] ends;
  private final int last;
  private int index;
  private int position;

  /**
   * @param memory throws when it may not be read any more: it has other bytes then
   * @param ends where each block ends
   * @param first the first block
   * @param end the one after the last
   */
  public ChunkInputStream(Supplier<MemorySegment> memory, int[] ends, int first, int end) {
    this.memory = memory;
    this.ends = ends;
    this.last = end - 1;
    this.index = first;
    this.position = first == 0 ? 0 : ends[first - 1];
  }

  /** The block from which bytes were read last. */
  int block() {
    return index;
  }

  @Override
  public int read() {
    if (remaining() == 0) {
      return -1;
    }
    return Byte.toUnsignedInt(memory.get().get(ValueLayout.JAVA_BYTE, position++));
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
    position += count;
    return count;
  }

  @Override
  public long skip(long count) {
    int skipped = count <= 0 ? 0 : (int) Math.min(count, remaining());
    position += skipped;
    return skipped;
  }

  /** Bytes of the block; none at its end, although another one may follow. */
  @Override
  public int available() {
    return ends[index] - position;
  }

  /** Bytes left of the block, or of the next one at its end; 0 at the end of the last. */
  private int remaining() {
    int next = index;
    while (position == ends[next] && next < last) {
      next++;
    }
    if (ends[next] > position) {
      index = next; // Else those that follow are not there.
    }
    return ends[index] - position;
  }
}
