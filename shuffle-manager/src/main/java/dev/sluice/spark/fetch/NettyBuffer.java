// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.fetch;

import dev.sluice.spark.transport.ReadTransport;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import java.lang.foreign.MemorySegment;
import org.apache.spark.network.util.NettyUtils;

/**
 * Unregistered memory of the kind that Spark's own transport receives into, within its limits.
 * {@link SharedBytes} moves READ bytes to it, and releases it once. Any thread.
 */
final class NettyBuffer implements ReadTransport.Buffer {
  private final ByteBuf memory;
  private final MemorySegment segment;

  private NettyBuffer(ByteBuf memory) {
    this.memory = memory;
    this.segment = MemorySegment.ofBuffer(memory.nioBuffer(0, memory.capacity()));
  }

  /** Returns the allocator that Spark's own transport uses for its clients. */
  static ByteBufAllocator allocator() {
    return NettyUtils.getSharedPooledByteBufAllocator(true, false);
  }

  /** Copies the bytes, less than 2 GiB. Returns null if there is not enough memory. */
  static NettyBuffer copyOf(MemorySegment bytes) {
    int length = Math.toIntExact(bytes.byteSize());
    try {
      NettyBuffer copy = new NettyBuffer(allocator().directBuffer(length, length));
      copy.segment.copyFrom(bytes);
      return copy;
    } catch (OutOfMemoryError e) {
      return null;
    }
  }

  @Override
  public MemorySegment segment() {
    return segment;
  }

  @Override
  public void release() {
    memory.release();
  }
}
