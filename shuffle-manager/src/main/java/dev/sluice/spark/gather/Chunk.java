package dev.sluice.spark.gather;

import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Members of a {@link BlockGroup} in one piece of memory, complete and verified, one after the
 * other. Whoever made it hands it to the task, which releases it when it has read it or ends.
 */
public final class Chunk implements Arrival {
  /**
   * How the bytes came.
   *
   * @param requestNanos how long it took to get them
   * @param stagedBytes READ from staging memory
   */
  public record Way(long requestNanos, long stagedBytes) {
    static final Way LOCAL = new Way(0, 0);
  }

  private final BlockGroup group;
  private final int firstMember;
  private final int[] ends;
  private final MemorySegment bytes;
  private final Way way;
  private final Runnable whenReleased;
  private final AtomicBoolean released = new AtomicBoolean();

  /**
   * @param firstMember of the group
   * @param ends where this member and those after it end in {@code bytes}; one that ends where the
   *     one before it does is not in the chunk
   */
  public Chunk(
      BlockGroup group,
      int firstMember,
      int[] ends,
      MemorySegment bytes,
      Way way,
      Runnable whenReleased) {
    this.group = group;
    this.firstMember = firstMember;
    this.ends = ends;
    this.bytes = bytes;
    this.way = way;
    this.whenReleased = whenReleased;
  }

  BlockGroup group() {
    return group;
  }

  int firstMember() {
    return firstMember;
  }

  int[] ends() {
    return ends;
  }

  /** Where one of {@link #ends} begins. */
  int start(int index) {
    return index == 0 ? 0 : ends[index - 1];
  }

  int bytes() {
    return ends[ends.length - 1];
  }

  /** How many members it has. */
  int blocks() {
    int blocks = 0;
    for (int i = 0; i < ends.length; i++) {
      blocks += ends[i] > start(i) ? 1 : 0;
    }
    return blocks;
  }

  Way way() {
    return way;
  }

  /**
   * The memory, valid until the release.
   *
   * @throws IllegalStateException after it
   */
  MemorySegment memory() {
    if (released.get()) {
      throw new IllegalStateException("chunk of " + bytes() + " bytes was released");
    }
    return bytes;
  }

  /** Gives the memory back. Any thread; idempotent. */
  public void release() {
    if (released.compareAndSet(false, true)) {
      whenReleased.run();
    }
  }
}
