package dev.sluice.rdma.transfer;

import java.util.function.Consumer;

/** Registered buffers in size classes under a hard cap. */
public final class BufferPool implements AutoCloseable {
  /** The largest buffer that can be asked for, in bytes. */
  public int maxBufferBytes() {
    throw new UnsupportedOperationException();
  }

  /**
   * Hands a buffer to {@code taker}, at once where there is room, else when others are released;
   * null when the deadline passes first. Never blocks.
   */
  public void acquire(int bytes, long deadlineNanos, Consumer<PooledBuffer> taker) {
    throw new UnsupportedOperationException();
  }

  @Override
  public void close() {
    throw new UnsupportedOperationException();
  }
}
