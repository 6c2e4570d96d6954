// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.soft;

import java.nio.ByteBuffer;
import java.util.ArrayDeque;

/**
 * Buffers for frames that an event loop's connections send. A connection holds one for headers and
 * small payloads until its socket has taken them, and a second one for bytes from a disk. Cost: 128
 * MiB for 1,000 peers that do not receive. Any thread.
 */
final class FrameBuffers {
  static final int BYTES = 64 << 10;

  /** Limit of spare buffers; the garbage collector frees the others. */
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
