// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.fetch;

import io.netty.buffer.Unpooled;
import java.io.InputStream;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.jspecify.annotations.Nullable;

/**
 * A READ block as Spark's iterator holds it: a slice of a buffer that several blocks share. Its
 * creator, {@link ReadAttempt} or {@link TaskBatchRead}, has the first reference. Any thread. Hold
 * no lock at a release: it may free the buffer, and then runs the next request that waits for one.
 */
final class RdmaManagedBuffer extends ManagedBuffer {
  private final SharedBytes shared;
  private final long offset;
  private final long length;
  private final AtomicInteger references = new AtomicInteger(1);

  /** Null until the first access; guarded by this. */
  private @Nullable MemorySegment bytes;

  /** Called by {@link SharedBytes#block}. */
  RdmaManagedBuffer(SharedBytes shared, long offset, long length) {
    this.shared = shared;
    this.offset = offset;
    this.length = length;
  }

  @Override
  public long size() {
    return length;
  }

  @Override
  public ByteBuffer nioByteBuffer() {
    return open().asByteBuffer().asReadOnlyBuffer();
  }

  @Override
  public InputStream createInputStream() {
    open(); // fails here, not at the first read
    return new BatchInputStream(this::open, new int[] {Math.toIntExact(length)}, 0, 1);
  }

  /** Returns the bytes, which stay in place from now on. Valid only while a reference is held. */
  synchronized MemorySegment open() {
    checkReferenced();
    if (bytes == null) {
      bytes = shared.open().asSlice(offset, length);
    }
    return bytes;
  }

  private synchronized boolean isOpened() {
    return bytes != null;
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
      shared.release(isOpened());
    }
    return this;
  }

  /** Returns a copy. Spark sends no such block on to others, and a copy is always safe. */
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
