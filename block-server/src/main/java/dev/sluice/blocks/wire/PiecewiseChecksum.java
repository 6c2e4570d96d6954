// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.wire;

import java.lang.foreign.Arena;
import java.nio.ByteBuffer;
import java.util.zip.Adler32;
import java.util.zip.CRC32C;
import java.util.zip.Checksum;
import org.jspecify.annotations.Nullable;

/**
 * A checksum that takes its bytes in small pieces, for two reasons. {@link ChecksumAlgorithm} makes
 * it where one of them holds. For one thread at a time.
 *
 * <p>HotSpot compiles {@link Adler32} early that way. Only C2 code uses vector instructions for it.
 * C2 compiles {@link Adler32#update(ByteBuffer)} after 5,000 calls (-XX:Tier4InvocationThreshold);
 * until then zlib's portable loop runs, at a fifth of the speed. An executor that verified each
 * block of 1 MiB by one call would stay slow for its first 5 GB. CRC32 and CRC32C need no pieces:
 * the interpreter has instructions for them too.
 *
 * <p>Before JDK 25 the checksums of the JDK refuse a buffer of a shared arena
 * (UnsupportedOperationException by {@link CRC32C#update(ByteBuffer)}, JDK-8357145). The pieces are
 * copied to the heap there.
 */
final class PiecewiseChecksum implements Checksum {
  /** True if this JVM's checksums refuse buffers of shared arenas. */
  static final boolean COPIES = refusesSharedArenas();

  /** 5,000 calls of this size are 80 MB. */
  private static final int PIECE_BYTES = 16 << 10;

  private final Checksum checksum;
  private final byte @Nullable [] copy;

  /**
   * @param copies true to take bytes of native memory by way of the heap
   */
  PiecewiseChecksum(Checksum checksum, boolean copies) {
    this.checksum = checksum;
    copy = copies ? new byte[PIECE_BYTES] : null;
  }

  private static boolean refusesSharedArenas() {
    try (Arena arena = Arena.ofShared()) {
      new CRC32C().update(arena.allocate(1).asByteBuffer());
      return false;
    } catch (UnsupportedOperationException e) {
      return true;
    }
  }

  @Override
  public void update(int b) {
    checksum.update(b);
  }

  @Override
  public void update(byte[] bytes, int offset, int length) {
    int done = 0;
    while (done < length) {
      int piece = Math.min(PIECE_BYTES, length - done);
      checksum.update(bytes, offset + done, piece);
      done += piece;
    }
  }

  /** Consumes all remaining bytes of the buffer. */
  @Override
  public void update(ByteBuffer buffer) {
    int end = buffer.limit();
    while (buffer.position() < end) {
      int piece = Math.min(PIECE_BYTES, end - buffer.position());
      buffer.limit(buffer.position() + piece);
      if (copy != null && buffer.isDirect()) {
        buffer.get(copy, 0, piece);
        checksum.update(copy, 0, piece);
      } else {
        checksum.update(buffer);
      }
    }
  }

  @Override
  public long getValue() {
    return checksum.getValue();
  }

  @Override
  public void reset() {
    checksum.reset();
  }
}
