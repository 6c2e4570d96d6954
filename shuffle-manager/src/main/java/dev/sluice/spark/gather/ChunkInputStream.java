package dev.sluice.spark.gather;

import java.io.InputStream;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Objects;

/**
 * The bytes of some members of a {@link Chunk}. No read goes beyond the end of a member, so that
 * whatever decodes the bytes fails while the member that is wrong is the one read last. For one
 * thread; closing it does nothing.
 */
final class ChunkInputStream extends InputStream {
  private final Chunk chunk;
  private final int last;
  private int index;
  private int position;

  /**
   * @param first the first member in the chunk
   * @param end the one after the last
   */
  ChunkInputStream(Chunk chunk, int first, int end) {
    this.chunk = chunk;
    this.last = end - 1;
    this.index = first;
    this.position = chunk.start(first);
  }

  /** The member, of the chunk's group, from which bytes were read last. */
  int member() {
    return chunk.firstMember() + index;
  }

  @Override
  public int read() {
    if (remaining() == 0) {
      return -1;
    }
    return Byte.toUnsignedInt(chunk.memory().get(ValueLayout.JAVA_BYTE, position++));
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
    MemorySegment.copy(chunk.memory(), ValueLayout.JAVA_BYTE, position, target, offset, count);
    position += count;
    return count;
  }

  @Override
  public long skip(long count) {
    int skipped = count <= 0 ? 0 : (int) Math.min(count, remaining());
    position += skipped;
    return skipped;
  }

  /** Bytes of the member; none at its end, although another one may follow. */
  @Override
  public int available() {
    return chunk.ends()[index] - position;
  }

  /** Bytes left of the member, or of the next one at its end; 0 at the end of the last. */
  private int remaining() {
    int[] ends = chunk.ends();
    int next = index;
    while (position == ends[next] && next < last) {
      next++;
    }
    if (ends[next] > position) {
      index = next; // Else those that follow are not in the chunk.
    }
    return ends[index] - position;
  }
}
