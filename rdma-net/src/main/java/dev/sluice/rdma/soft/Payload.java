// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.soft;

import dev.sluice.rdma.MappedMemory;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ScatteringByteChannel;
import org.jspecify.annotations.Nullable;

/**
 * The payload of the frame that a connection is receiving, with the rest of its registered memory.
 * The {@link SoftConnection} has one and reads into it on the event loop's thread; its {@link
 * Initiator} names the memory. Guarded by the queue pair's lock. It must not keep memory that is
 * deregistered: {@link #discard} forgets it.
 */
final class Payload {
  /**
   * The memory, null for none; and, during a read of the socket, the buffer for the bytes that
   * follow.
   */
  private final ByteBuffer[] buffers = new ByteBuffer[2];

  private @Nullable SoftMemoryRegion region;

  void start(SoftMemoryRegion target, long address, int length) {
    buffers[0] = target.slice(address, length);
    region = target;
  }

  /** Forgets the memory. */
  void discard() {
    buffers[0] = null;
    region = null;
  }

  /** Bytes that are still to come. */
  int remaining() {
    return buffers[0] == null ? 0 : buffers[0].remaining();
  }

  boolean uses(SoftRegion other) {
    return region == other;
  }

  /**
   * Reads the rest of the payload into its memory, and the following bytes into {@code next}.
   *
   * @return bytes; less than 0 at the end of the stream
   */
  long readFrom(ScatteringByteChannel channel, ByteBuffer next) throws IOException {
    buffers[1] = next;
    try {
      return channel.read(buffers);
    } finally {
      buffers[1] = null;
    }
  }

  /** Takes bytes that were read together with the header. */
  void take(ByteBuffer in) {
    int bytes = Math.min(remaining(), in.remaining());
    if (bytes > 0) {
      buffers[0].put(in.slice(in.position(), bytes));
      in.position(in.position() + bytes);
      MappedMemory.awaitFault(); // before the READ can succeed
    }
  }
}
