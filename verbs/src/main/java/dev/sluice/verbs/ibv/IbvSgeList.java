// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.ibv;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * Memory of a work request: an array of {@code struct ibv_sge}, or of {@code struct ibv_data_buf}
 * of the same size. One thread at a time. The caller's arena owns the memory. Adding allocates
 * nothing.
 */
public final class IbvSgeList {
  private static final long LENGTH = IbvStructs.SGE.offset("length");
  private static final long LKEY = IbvStructs.SGE.offset("lkey");
  private static final long SIZE = IbvStructs.SGE.size();

  private final MemorySegment memory;
  private int size;

  /** The arena owns the memory; its owner closes it after the last use of the list. */
  public IbvSgeList(Arena arena, int capacity) {
    memory = arena.allocate(capacity * SIZE, Long.BYTES);
  }

  /** Number of entries added since {@link #clear}. */
  public int size() {
    return size;
  }

  public void clear() {
    size = 0;
  }

  /** Adds a {@code struct ibv_sge} of some bytes. Throws IndexOutOfBoundsException when full. */
  public IbvSgeList add(long address, int length, int lkey) {
    long entry = size * SIZE;
    memory.set(JAVA_LONG, entry, address);
    memory.set(JAVA_INT, entry + LENGTH, length);
    memory.set(JAVA_INT, entry + LKEY, lkey);
    size++;
    return this;
  }

  /** Adds a {@code struct ibv_data_buf}: bytes to send inline. */
  public IbvSgeList addInline(long address, long length) {
    return add(address, (int) length, (int) (length >>> Integer.SIZE));
  }

  /** Throws an IllegalStateException if the list's arena is closed. */
  long address() {
    if (!memory.scope().isAlive()) {
      throw new IllegalStateException("the arena of the scatter/gather list is closed");
    }
    return memory.address();
  }
}
