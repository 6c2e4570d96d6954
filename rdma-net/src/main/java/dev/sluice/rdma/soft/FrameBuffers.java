package dev.sluice.rdma.soft;

import java.nio.ByteBuffer;
import java.util.ArrayDeque;

/**
 * The buffers in which a device's connections put frames together. A connection has one only while
 * there is something that its socket has not taken: 64 MiB where a thousand peers do not receive.
 * Any thread.
 */
final class FrameBuffers {
  static final int BYTES = 64 << 10;

  /** Spare ones that are kept; the others are left to the garbage collector. */
  private static final int MAX_SPARE = 16;

  private final ArrayDeque<ByteBuffer> spare = new ArrayDeque<>();

  synchronized ByteBuffer take() {
    ByteBuffer buffer = spare.poll();
    return buffer == null ? ByteBuffer.allocateDirect(BYTES) : buffer.clear();
  }

  synchronized void giveBack(ByteBuffer buffer) {
    if (spare.size() < MAX_SPARE) {
      spare.push(buffer);
    }
  }
}
