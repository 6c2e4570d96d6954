// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.fetch;

import dev.sluice.rdma.transfer.ReadBuffer;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import java.lang.foreign.MemorySegment;
import org.apache.spark.network.util.NettyUtils;
import org.jspecify.annotations.Nullable;

/**
 * Buffer of blocks that were READ together. It returns to the pool when the last of them is
 * released. While no thread reads any of them, all of them may be moved out of the pool together.
 * The creator, {@link ReadAttempt} or {@link TaskBatchRead}, makes the blocks, counts as their
 * reader meanwhile, and then calls {@link #complete}. Any thread. No method of {@link
 * EvictableBuffers} and no release of a buffer may be called with this lock held.
 */
final class SharedBytes {
  private final EvictableBuffers parked;
  private final int bytes;

  // Guarded by this; both counts include the creator.
  private ReadBuffer buffer;
  private int holders = 1;
  private int readers = 1;

  /**
   * Takes over a reference to the buffer.
   *
   * @param parked holds the bytes while they wait
   * @param bytes of the blocks, from the begin of the buffer on
   */
  SharedBytes(EvictableBuffers parked, ReadBuffer buffer, int bytes) {
    this.parked = parked;
    this.bytes = bytes;
    this.buffer = buffer;
  }

  /** Makes a block, with its first reference. */
  synchronized RdmaManagedBuffer block(long offset, long length) {
    holders++;
    return new RdmaManagedBuffer(this, offset, length);
  }

  /** Notes that the creator makes no more blocks. */
  void complete() {
    release(true);
  }

  /** Returns the bytes, which stay in place until the block that reads them is released. */
  MemorySegment open() {
    MemorySegment bytes;
    synchronized (this) {
      readers++;
      bytes = buffer.segment();
    }
    parked.remove(this);
    return bytes;
  }

  /**
   * Releases a block.
   *
   * @param wasOpened true if the block called {@link #open}
   */
  void release(boolean wasOpened) {
    ReadBuffer last;
    boolean idle;
    synchronized (this) {
      holders--;
      readers -= wasOpened ? 1 : 0;
      last = holders == 0 ? buffer : null;
      idle = wasOpened && isIdle();
    }
    if (last != null) {
      parked.remove(this);
      last.release();
    } else if (idle) {
      parked.add(this);
      if (!isHeld()) {
        parked.remove(this); // The last block was released meanwhile.
      }
    }
  }

  /** Returns true if some block was not released yet. */
  synchronized boolean isHeld() {
    return holders > 0;
  }

  /** Returns true if the bytes can leave the pool. Called with the lock held. */
  private boolean isIdle() {
    return holders > 0 && readers == 0 && !(buffer instanceof NettyBuffer);
  }

  /**
   * Copies the bytes out of the pool, unless a thread reads them.
   *
   * @return false if there is no memory for the copy
   */
  boolean moveOut() {
    ReadBuffer left;
    synchronized (this) {
      if (!isIdle()) {
        return true;
      }
      NettyBuffer copy = NettyBuffer.copyOf(buffer.segment().asSlice(0, bytes));
      if (copy == null) {
        return false;
      }
      left = buffer;
      buffer = copy;
    }
    left.release(); // Runs the next waiter, so no lock may be held.
    return true;
  }

  /**
   * Unregistered memory of the kind that Spark's own transport receives into, within its limits.
   * {@link SharedBytes} moves READ bytes to it, and releases it once. Any thread.
   */
  static final class NettyBuffer implements ReadBuffer {
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
    static @Nullable NettyBuffer copyOf(MemorySegment bytes) {
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
}
