package dev.sluice.spark.read;

import io.netty.buffer.Unpooled;
import java.io.InputStream;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.spark.network.buffer.ManagedBuffer;

/**
 * A READ block, as Spark's iterator holds it: a slice of a pooled buffer that goes back to the pool
 * when the last of its blocks is released. Its creator has the first reference. Any thread.
 */
final class RdmaManagedBuffer extends ManagedBuffer {
  private final ReadTransport.Buffer buffer;
  private final MemorySegment bytes;
  private final AtomicInteger references = new AtomicInteger(1);

  /** Takes a reference of its own to the pooled buffer. */
  RdmaManagedBuffer(ReadTransport.Buffer buffer, long offset, long length) {
    this.bytes = buffer.segment().asSlice(offset, length);
    this.buffer = buffer;
    buffer.retain();
  }

  @Override
  public long size() {
    return bytes.byteSize();
  }

  /** The bytes themselves: valid only while a reference is held. */
  @Override
  public ByteBuffer nioByteBuffer() {
    checkReferenced();
    return bytes.asByteBuffer().asReadOnlyBuffer();
  }

  @Override
  public InputStream createInputStream() {
    checkReferenced();
    return new SegmentInputStream(bytes, this::checkReferenced);
  }

  @Override
  public ManagedBuffer retain() {
    references.updateAndGet(
        count -> {
          if (count == 0) {
            throw released();
          }
          return count + 1;
        });
    return this;
  }

  @Override
  public ManagedBuffer release() {
    int left =
        references.updateAndGet(
            count -> {
              if (count == 0) {
                throw released();
              }
              return count - 1;
            });
    if (left == 0) {
      buffer.release();
    }
    return this;
  }

  /** A copy: nothing that Spark sends on to others comes from here, and a copy is always safe. */
  @Override
  public Object convertToNetty() {
    return Unpooled.copiedBuffer(nioByteBuffer());
  }

  @Override
  public Object convertToNettyForSsl() {
    return convertToNetty();
  }

  private void checkReferenced() {
    if (references.get() == 0) {
      throw released();
    }
  }

  private IllegalStateException released() {
    return new IllegalStateException(this + " was released");
  }

  @Override
  public String toString() {
    return "RdmaManagedBuffer[" + size() + " bytes]";
  }
}
