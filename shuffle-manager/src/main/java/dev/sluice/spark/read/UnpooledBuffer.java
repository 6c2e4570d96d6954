package dev.sluice.spark.read;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicInteger;

/** Native memory that is not registered, freed with its last reference. Any thread. */
final class UnpooledBuffer implements ReadTransport.Buffer {
  private final Arena arena;
  private final MemorySegment segment;
  private final AtomicInteger references = new AtomicInteger(1);

  private UnpooledBuffer(Arena arena, MemorySegment segment) {
    this.arena = arena;
    this.segment = segment;
  }

  /**
   * The caller has the first reference.
   *
   * @throws IOException where there is not so much memory
   */
  static UnpooledBuffer allocate(long bytes) throws IOException {
    Arena arena = Arena.ofShared();
    try {
      return new UnpooledBuffer(arena, arena.allocate(bytes));
    } catch (OutOfMemoryError e) {
      arena.close();
      throw new IOException("no memory for a block of " + bytes + " bytes", e);
    }
  }

  @Override
  public MemorySegment segment() {
    return segment;
  }

  @Override
  public void retain() {
    references.incrementAndGet();
  }

  @Override
  public void release() {
    if (references.decrementAndGet() == 0) {
      arena.close();
    }
  }
}
