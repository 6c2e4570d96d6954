// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.fetch;

import dev.sluice.spark.fetch.RemoteBatches.Arrival;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

/**
 * Members of an {@link ExecutorBlocks} in one piece of memory, complete and verified, one after the
 * other. {@link TaskBatchRead} or {@link LocalBatches} makes it on the reader's thread for {@link
 * RdmaBlockFetcherIterator}, whose streams release it after reading it. If the task ends before,
 * {@link RemoteBatches} releases it, on another thread. Therefore all access to the bytes goes
 * through {@link #memory}, which throws then.
 */
public final class FetchedBatch implements Arrival {
  /**
   * Origin of the bytes.
   *
   * @param requestNanos time that the fetch took
   * @param stagedBytes bytes that were READ from staging memory
   */
  public record Way(long requestNanos, long stagedBytes) {
    static final Way LOCAL = new Way(0, 0);
  }

  private final ExecutorBlocks group;
  private final int firstMember;
  private final int[] ends;
  private final MemorySegment bytes;
  private final Way way;
  private final Consumer<FetchedBatch> whenReleased;
  private final AtomicBoolean released = new AtomicBoolean();

  /**
   * @param firstMember index of the first member in the group
   * @param ends ends of this member and of those after it in {@code bytes}; a member that ends
   *     where the one before it does is not in the batch
   */
  public FetchedBatch(
      ExecutorBlocks group,
      int firstMember,
      int[] ends,
      MemorySegment bytes,
      Way way,
      Consumer<FetchedBatch> whenReleased) {
    this.group = group;
    this.firstMember = firstMember;
    this.ends = ends;
    this.bytes = bytes;
    this.way = way;
    this.whenReleased = whenReleased;
  }

  ExecutorBlocks group() {
    return group;
  }

  int firstMember() {
    return firstMember;
  }

  int[] ends() {
    return ends;
  }

  /** Returns the beginning of the member that ends at {@code ends[index]}. */
  int start(int index) {
    return index == 0 ? 0 : ends[index - 1];
  }

  public int bytes() {
    return ends[ends.length - 1];
  }

  /** Returns the number of members in the batch. */
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
   * Returns the memory, valid until the release.
   *
   * @throws IllegalStateException after the release
   */
  MemorySegment memory() {
    if (released.get()) {
      throw new IllegalStateException("batch of " + bytes() + " bytes was released");
    }
    return bytes;
  }

  /** Gives the memory back. Any thread; idempotent. */
  public void release() {
    if (released.compareAndSet(false, true)) {
      whenReleased.accept(this);
    }
  }
}
