package dev.sluice.rdma.transfer;

import java.lang.foreign.MemorySegment;

/** A reference-counted piece of registered memory from a {@link BufferPool}. */
public final class PooledBuffer {
  /** Exactly the bytes that were asked for. */
  public MemorySegment segment() {
    throw new UnsupportedOperationException();
  }

  public int lkey() {
    throw new UnsupportedOperationException();
  }

  public PooledBuffer retain() {
    throw new UnsupportedOperationException();
  }

  public void release() {
    throw new UnsupportedOperationException();
  }
}
