package dev.sluice.spark.read;

import dev.sluice.spark.transport.ReadTransport;
import java.lang.foreign.MemorySegment;

/**
 * The buffer of blocks that were READ together. It goes back to the pool when the last of them is
 * released; while nobody reads one of them it may be moved out of the pool, which is of use only
 * for all of them at once. Its creator makes the blocks, which is as if it read them, and then
 * calls {@link #complete}. Any thread.
 */
final class SharedBytes {
  private final ParkedBytes parked;

  // Guarded by this; both with the creator.
  private ReadTransport.Buffer buffer;
  private int holders = 1;
  private int readers = 1;

  /**
   * Takes over a reference to the buffer.
   *
   * @param parked where it may be waiting
   */
  SharedBytes(ParkedBytes parked, ReadTransport.Buffer buffer) {
    this.parked = parked;
    this.buffer = buffer;
  }

  /** A block, with its first reference. */
  synchronized RdmaManagedBuffer block(long offset, long length) {
    holders++;
    return new RdmaManagedBuffer(this, offset, length);
  }

  /** There are no more blocks to come. */
  void complete() {
    release(true);
  }

  /** The bytes, which stay where they are until the block that reads them is released. */
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
   * A block is released.
   *
   * @param wasOpened whether it called {@link #open}
   */
  void release(boolean wasOpened) {
    ReadTransport.Buffer last;
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

  private synchronized boolean isHeld() {
    return holders > 0;
  }

  /** Whether it can be moved out of the pool. Called with the lock held. */
  private boolean isIdle() {
    return holders > 0 && readers == 0 && !(buffer instanceof NettyBuffer);
  }

  /**
   * Copies them out of the pool, unless somebody reads them.
   *
   * @return false where there is no memory for that
   */
  boolean moveOut() {
    ReadTransport.Buffer left;
    synchronized (this) {
      if (!isIdle()) {
        return true;
      }
      NettyBuffer copy = NettyBuffer.copyOf(buffer.segment());
      if (copy == null) {
        return false;
      }
      left = buffer;
      buffer = copy;
    }
    left.release(); // Whoever waits for it goes on here, which no lock may meet.
    return true;
  }
}
