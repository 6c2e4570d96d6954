package dev.sluice.spark.read;

import io.netty.buffer.Unpooled;
import java.io.InputStream;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.spark.network.buffer.ManagedBuffer;

/**
 * A READ block, as Spark's iterator holds it: a slice of a pooled buffer that goes back to the pool
 * when the last of its blocks is released. Until somebody looks at its bytes they may be moved out
 * of the pool. Its creator has the first reference. Any thread.
 */
final class RdmaManagedBuffer extends ManagedBuffer implements ParkedBytes.Holder {
  private final ParkedBytes parked;
  private final long length;
  private final AtomicInteger references = new AtomicInteger(1);

  // Guarded by this.
  private ReadTransport.Buffer buffer;
  private MemorySegment bytes;
  private boolean opened;

  /**
   * Takes a reference of its own to the buffer.
   *
   * @param parked where it may be waiting
   */
  RdmaManagedBuffer(ParkedBytes parked, ReadTransport.Buffer buffer, long offset, long length) {
    this.parked = parked;
    this.length = length;
    this.bytes = buffer.segment().asSlice(offset, length);
    this.buffer = buffer;
    buffer.retain();
  }

  @Override
  public long size() {
    return length;
  }

  /** The bytes themselves: valid only while a reference is held. */
  @Override
  public ByteBuffer nioByteBuffer() {
    return open().asByteBuffer().asReadOnlyBuffer();
  }

  @Override
  public InputStream createInputStream() {
    return new SegmentInputStream(open(), this::checkReferenced);
  }

  private MemorySegment open() {
    checkReferenced();
    parked.remove(this);
    synchronized (this) {
      opened = true;
      return bytes;
    }
  }

  @Override
  public boolean moveOut() {
    ReadTransport.Buffer left;
    synchronized (this) {
      if (opened || references.get() == 0) {
        return true;
      }
      NettyBuffer copy = NettyBuffer.copyOf(bytes);
      if (copy == null) {
        return false;
      }
      left = buffer;
      buffer = copy;
      bytes = copy.segment();
    }
    left.release(); // Whoever waits for it goes on here, which no lock may meet.
    return true;
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
      ReadTransport.Buffer last;
      boolean wasOpened;
      synchronized (this) {
        last = buffer;
        wasOpened = opened;
      }
      if (!wasOpened) {
        parked.remove(this);
      }
      last.release();
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
