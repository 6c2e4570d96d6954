package dev.sluice.spark.read;

import dev.sluice.spark.transport.ReadTransport;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import java.lang.foreign.MemorySegment;
import org.apache.spark.network.util.NettyUtils;

/** Memory such as Spark's own transfer receives into: not registered, and within its limits. */
final class NettyBuffer implements ReadTransport.Buffer {
  private final ByteBuf memory;
  private final MemorySegment segment;

  private NettyBuffer(ByteBuf memory) {
    this.memory = memory;
    this.segment = MemorySegment.ofBuffer(memory.nioBuffer(0, memory.capacity()));
  }

  /** That of Spark's own transfer, as its clients ask for it. */
  static ByteBufAllocator allocator() {
    return NettyUtils.getSharedPooledByteBufAllocator(true, false);
  }

  /** With these bytes, less than 2 GiB; null where there is not so much memory. */
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
