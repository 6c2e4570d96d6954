// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.transfer;

import dev.sluice.rdma.AccessFlag;
import dev.sluice.rdma.MemoryRegion;
import dev.sluice.rdma.PageSize;
import dev.sluice.rdma.ProtectionDomain;
import dev.sluice.rdma.RemoteRegion;
import dev.sluice.verbs.VerbsException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.Set;

/**
 * One registered piece of memory that is handed out in pages by the buddy scheme. A buffer starts
 * at a multiple of its size, rounded up to a power of two. The rest of that power of two remains
 * free for smaller buffers.
 *
 * <p>{@link #take}, {@link #giveBack}, {@link #close} and {@link #free} need the pool's lock;
 * {@link #lkey} and {@link #remote} do not. The {@link BufferPool} closes it. A binary tree tracks
 * the free pages: the root stands for the whole slab, its children for the halves, and so on down
 * to the pages. Each node holds the order of the largest free block below it. A slab of 32 MiB
 * costs 16 KiB of heap. Taking or freeing a buffer visits 13 levels.
 */
final class Slab implements AutoCloseable {
  /** Unit of buffers. Pages of the machine may be larger. */
  static final int PAGE_BYTES = 4096;

  private final Arena arena;
  private final MemorySegment memory;
  private final MemoryRegion region;
  private final int maxOrder;

  /**
   * For each node (root at 1, children of n at 2n and 2n + 1): one more than the order of the
   * largest free block, 0 if all is taken. Below a node that is wholly free or wholly taken, the
   * values are out of date until {@link #pushDown} needs them.
   */
  private final byte[] largestFree;

  /**
   * @param arena owns only this memory
   * @param memory its size is a power of two of pages
   */
  Slab(Arena arena, MemorySegment memory, MemoryRegion region) {
    this.arena = arena;
    this.memory = memory;
    this.region = region;
    int pages = Math.toIntExact(memory.byteSize() / PAGE_BYTES);
    maxOrder = order(pages);
    largestFree = new byte[2 * pages];
    largestFree[1] = free(maxOrder);
  }

  /**
   * Allocates and registers the memory.
   *
   * @param bytes a power of two of pages
   */
  static Slab register(ProtectionDomain domain, int bytes, Set<AccessFlag> access)
      throws VerbsException {
    Arena arena = Arena.ofShared();
    boolean registered = false;
    try {
      MemorySegment memory = arena.allocate(bytes, PageSize.BYTES);
      Slab slab = new Slab(arena, memory, domain.register(memory, access));
      registered = true;
      return slab;
    } finally {
      if (!registered) {
        arena.close();
      }
    }
  }

  /** Number of pages that {@code bytes} take. */
  static int pages(int bytes) {
    return (int) ((bytes + PAGE_BYTES - 1L) / PAGE_BYTES);
  }

  /** Takes {@code pages} free pages and returns the first; -1 if there is no room. */
  int take(int pages) {
    int order = order(pages);
    if (largestFree[1] <= order) {
      return -1;
    }
    int node = 1;
    for (int nodeOrder = maxOrder; nodeOrder > order; nodeOrder--) {
      pushDown(node, nodeOrder);
      int left = largestFree[2 * node];
      int right = largestFree[2 * node + 1];
      // The tighter fit of the two, so that large blocks stay whole.
      boolean goLeft = left > order && (right <= order || left <= right);
      node = goLeft ? 2 * node : 2 * node + 1;
    }
    int first = (node - (1 << (maxOrder - order))) << order;
    mark(1, maxOrder, 0, first, first + pages, false);
    return first;
  }

  void giveBack(int firstPage, int pages) {
    mark(1, maxOrder, 0, firstPage, firstPage + pages, true);
  }

  MemorySegment slice(int firstPage, int bytes) {
    return memory.asSlice((long) firstPage * PAGE_BYTES, bytes);
  }

  int lkey() {
    return region.lkey();
  }

  RemoteRegion remote(int firstPage, int bytes) {
    return new RemoteRegion(region.address() + (long) firstPage * PAGE_BYTES, bytes, region.rkey());
  }

  /** Deregisters the memory, which remains allocated for the buffers that are still in use. */
  @Override
  public void close() {
    region.close();
  }

  /** Frees the memory. Called after close, when none of its buffers is in use. */
  void free() {
    arena.close();
  }

  /** Marks pages [from, to) in the node that stands for 2^order pages from {@code start} on. */
  private void mark(int node, int order, int start, int from, int to, boolean free) {
    int end = start + (1 << order);
    if (to <= start || end <= from) {
      return;
    }
    if (from <= start && end <= to) {
      largestFree[node] = free ? free(order) : 0;
      return;
    }
    pushDown(node, order);
    mark(2 * node, order - 1, start, from, to, free);
    mark(2 * node + 1, order - 1, start + (1 << (order - 1)), from, to, free);
    byte left = largestFree[2 * node];
    byte right = largestFree[2 * node + 1];
    boolean whole = left == free(order - 1) && right == free(order - 1);
    largestFree[node] = whole ? free(order) : (byte) Math.max(left, right);
  }

  /** Updates the children of a node that is wholly free or wholly taken. */
  private void pushDown(int node, int order) {
    if (largestFree[node] == 0) {
      Arrays.fill(largestFree, 2 * node, 2 * node + 2, (byte) 0);
    } else if (largestFree[node] == free(order)) {
      Arrays.fill(largestFree, 2 * node, 2 * node + 2, free(order - 1));
    }
  }

  private static byte free(int order) {
    return (byte) (order + 1);
  }

  /** Returns the smallest n for which 2^n is at least {@code pages}. */
  private static int order(int pages) {
    return Integer.SIZE - Integer.numberOfLeadingZeros(pages - 1);
  }
}
