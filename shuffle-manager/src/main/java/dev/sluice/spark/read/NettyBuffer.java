package dev.sluice.spark.read;

import io.netty.buffer.ByteBuf;
import java.lang.foreign.MemorySegment;
import org.apache.spark.network.util.NettyUtils;

/** A copy in the memory that Spark's own transfer receives into. */
final class NettyBuffer implements ReadTransport.Buffer {
  private final ByteBuf memory;
  private final MemorySegment segment;

  private NettyBuffer(ByteBuf memory) {
    this.memory = memory;
    this.segment = MemorySegment.ofBuffer(memory.nioBuffer(0, memory.capacity()));
  }

  /**
   * The caller has the first reference.
   *
   * @return null where there is not so much memory
   */
  static NettyBuffer copyOf(MemorySegment bytes) {
    try {
      int length = Math.toIntExact(bytes.byteSize());
      ByteBuf memory =
          NettyUtils.getSharedPooledByteBufAllocator(true, false).directBuffer(length, length);
      NettyBuffer copy = new NettyBuffer(memory);
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
  public void retain() {
    memory.retain();
  }

  @Override
  public void release() {
    memory.release();
  }
}
