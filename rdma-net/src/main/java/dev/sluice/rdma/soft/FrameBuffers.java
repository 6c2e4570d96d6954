// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.soft;

import java.nio.ByteBuffer;
import java.util.ArrayDeque;

/**
 * Pool of direct buffers for frames that the connections of one event loop send. The {@link
 * EventLoop} has it. {@link FrameBatch} takes and gives back on the loop's thread and on posting
 * threads, {@link DiskReaders} on a disk's thread. {@link Responder} gives back the bytes of
 * dropped answers.
 *
 * <p>A taker owns its buffer and gives it back once, after its last use. The garbage collector
 * frees one that is lost. {@link #take} has no limit. Callers may hold the lock of a queue pair;
 * the pool's own lock guards its list only. Nothing to close. A connection holds one buffer for
 * headers and small payloads until its socket has taken them, and a second one for bytes from a
 * disk. Cost: 128 MiB for 1,000 peers that do not receive.
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
