// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.transfer;

import dev.sluice.rdma.RemoteRegion;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A reference-counted piece of registered memory from a {@link BufferPool}. The receiver owns one
 * reference, and a posted READ needs one of its own. Any thread may use it, without the pool's
 * lock. The last {@link #release} takes that lock, returns the memory, and serves requests that
 * wait. {@link #segment}, {@link #retain} and {@link #release} check that a reference is left;
 * {@link #lkey} and {@link #remote} do not.
 */
public final class PooledBuffer implements ReadBuffer {
  private final BufferPool pool;
  private final Slab slab;
  private final int firstPage;
  private final MemorySegment segment;
  private final AtomicInteger references = new AtomicInteger(1);

  PooledBuffer(BufferPool pool, Slab slab, int firstPage, int bytes) {
    this.pool = pool;
    this.slab = slab;
    this.firstPage = firstPage;
    this.segment = slab.slice(firstPage, bytes);
  }

  /**
   * Returns exactly the bytes that were requested.
   *
   * @throws IllegalStateException if the buffer was released: it may have another owner by now
   */
  @Override
  public MemorySegment segment() {
    requireReferences(references.get());
    return segment;
  }

  public int lkey() {
    return slab.lkey();
  }

  /** Returns the region that peers READ, if the pool allows READs. */
  public RemoteRegion remote() {
    return slab.remote(firstPage, bytes());
  }

  public PooledBuffer retain() {
    requireReferences(references.getAndUpdate(count -> count == 0 ? 0 : count + 1));
    return this;
  }

  /**
   * @throws IllegalStateException if no reference is left to release
   */
  @Override
  public void release() {
    int before = references.getAndUpdate(count -> count == 0 ? 0 : count - 1);
    requireReferences(before);
    if (before == 1) {
      pool.giveBack(this);
    }
  }

  Slab slab() {
    return slab;
  }

  int firstPage() {
    return firstPage;
  }

  int bytes() {
    return (int) segment.byteSize();
  }

  private void requireReferences(int count) {
    if (count == 0) {
      throw new IllegalStateException("buffer of " + bytes() + " bytes was already released");
    }
  }
}
