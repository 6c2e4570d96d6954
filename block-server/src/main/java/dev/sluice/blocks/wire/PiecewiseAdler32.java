// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.wire;

import java.nio.ByteBuffer;
import java.util.zip.Adler32;
import java.util.zip.Checksum;

/**
 * ADLER32, computed in small pieces so that HotSpot compiles it early. Only C2 code uses vector
 * instructions for it. C2 compiles {@link Adler32#update(ByteBuffer)} after 5,000 calls
 * (-XX:Tier4InvocationThreshold); until then zlib's portable loop runs, at a fifth of the speed. An
 * executor that verified each block of 1 MiB by one call would stay slow for its first 5 GB.
 *
 * <p>CRC32 and CRC32C need no pieces: the interpreter has instructions for them too. For one thread
 * at a time.
 */
final class PiecewiseAdler32 implements Checksum {
  /** 5,000 calls of this size are 80 MB. */
  private static final int PIECE_BYTES = 16 << 10;

  private final Adler32 checksum = new Adler32();

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
      buffer.limit(buffer.position() + Math.min(PIECE_BYTES, end - buffer.position()));
      checksum.update(buffer);
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
