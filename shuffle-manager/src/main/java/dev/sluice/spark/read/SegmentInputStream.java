package dev.sluice.spark.read;

import java.io.InputStream;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Objects;

/**
 * Reads memory that may be taken back: a read after that fails instead of returning bytes of
 * another block. For one thread; nothing to close.
 */
final class SegmentInputStream extends InputStream {
  private final MemorySegment bytes;
  private final Runnable checkValid;
  private long position;

  /**
   * @param checkValid throws when the memory may not be read any more
   */
  SegmentInputStream(MemorySegment bytes, Runnable checkValid) {
    this.bytes = bytes;
    this.checkValid = checkValid;
  }

  @Override
  public int read() {
    if (position == bytes.byteSize()) {
      return -1;
    }
    checkValid.run();
    return Byte.toUnsignedInt(bytes.get(ValueLayout.JAVA_BYTE, position++));
  }

  @Override
  public int read(byte[] target, int offset, int length) {
    Objects.checkFromIndexSize(offset, length, target.length);
    if (length == 0) {
      return 0;
    }
    int count = Math.min(available(), length);
    if (count == 0) {
      return -1;
    }
    checkValid.run();
    MemorySegment.copy(bytes, ValueLayout.JAVA_BYTE, position, target, offset, count);
    position += count;
    return count;
  }

  @Override
  public long skip(long count) {
    long skipped = Math.clamp(count, 0, bytes.byteSize() - position);
    position += skipped;
    return skipped;
  }

  @Override
  public int available() {
    return (int) Math.min(Integer.MAX_VALUE, bytes.byteSize() - position);
  }
}
