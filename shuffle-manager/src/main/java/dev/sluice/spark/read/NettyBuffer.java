package dev.sluice.spark.read;

import dev.sluice.spark.transport.ReadTransport;
import io.netty.buffer.ByteBuf;
import java.io.IOException;
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

  /**
   * The caller releases it.
   *
   * @param bytes less than 2 GiB
   * @throws IOException where there is not so much memory
   */
  static NettyBuffer allocate(long bytes) throws IOException {
    int length = Math.toIntExact(bytes);
    try {
      return new NettyBuffer(
          NettyUtils.getSharedPooledByteBufAllocator(true, false).directBuffer(length, length));
    } catch (OutOfMemoryError e) {
      throw new IOException("no memory for a block of " + bytes + " bytes", e);
    }
  }

  /** As {@link #allocate}, with these bytes; null where there is not so much memory. */
  static NettyBuffer copyOf(MemorySegment bytes) {
    try {
      NettyBuffer copy = allocate(bytes.byteSize());
      copy.segment.copyFrom(bytes);
      return copy;
    } catch (IOException e) {
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
