// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.ibv;

import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import dev.sluice.verbs.PostException;
import dev.sluice.verbs.VerbsException;
import dev.sluice.verbs.ffi.CStruct;
import dev.sluice.verbs.ffi.NativeObject;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;

/**
 * A chain of work requests in memory that C reads. It consists of slots of a fixed size; each slot
 * holds a request and its scatter/gather entries. Adding a request links it to the last one. This
 * class handles the members that send and receive requests have at the same offsets: {@code wr_id},
 * {@code next}, {@code sg_list} and {@code num_sge}.
 *
 * <p>A list is filled, posted, cleared and filled again; devices copy posted requests. One thread
 * at a time. The caller's arena owns the memory. Adding and posting allocate nothing once they are
 * compiled.
 */
abstract sealed class IbvWrList permits IbvSendWrList, IbvRecvWrList {
  private static final long NEXT = IbvStructs.RECV_WR.offset("next");
  private static final long SG_LIST = IbvStructs.RECV_WR.offset("sg_list");
  private static final long NUM_SGE = IbvStructs.RECV_WR.offset("num_sge");
  private static final long SGE_LENGTH = IbvStructs.SGE.offset("length");
  private static final long SGE_LKEY = IbvStructs.SGE.offset("lkey");
  private static final long SGE_SIZE = IbvStructs.SGE.size();

  /** Bytes before the first slot, into which C writes the address of a refused request. */
  private static final long BAD_SIZE = Long.BYTES;

  private final MemorySegment memory;
  private final MemorySegment.Scope scope;
  private final long base;
  private final long slotSize;
  private final int capacity;
  private final int maxSge;
  private int size;
  private long last; // address of the last request

  IbvWrList(Arena arena, CStruct request, int capacity, int maxSge) {
    if (capacity < 0 || maxSge < 0) {
      throw new IllegalArgumentException(
          "capacity " + capacity + " and maxSge " + maxSge + " must not be negative");
    }
    this.capacity = capacity;
    this.maxSge = maxSge;
    slotSize = request.size() + maxSge * SGE_SIZE;
    // An arena of the caller may give memory again that it gave before.
    memory = arena.allocate(BAD_SIZE + capacity * slotSize, Long.BYTES).fill((byte) 0);
    scope = memory.scope();
    base = memory.address();
  }

  public final int capacity() {
    return capacity;
  }

  /** Number of requests added since {@link #clear}. */
  public final int size() {
    return size;
  }

  public final boolean isEmpty() {
    return size == 0;
  }

  public final void clear() {
    size = 0;
  }

  /** Bytes of a request: a constant for the JIT compiler. */
  abstract long requestSize();

  /** Bytes to clear in a slot that is used again: a constant, so that the loop is unrolled. */
  abstract long clearedSize();

  /**
   * Adds a request whose {@link #clearedSize} first bytes are zeros but for its id. Throws an
   * IllegalStateException if the list is full.
   */
  final void addRequest(long wrId) {
    if (size == capacity) {
      throw new IllegalStateException("the list is full: it has " + capacity + " work requests");
    }
    requireOpen();
    long request = base + slot(size);
    MemorySegment wr = IbvStructs.ALL.asSlice(request, requestSize());
    for (int i = 0; i < clearedSize(); i += Long.BYTES) { // JDK 21 has no intrinsic for fill()
      wr.set(JAVA_LONG_UNALIGNED, i, 0L);
    }
    wr.set(JAVA_LONG_UNALIGNED, 0, wrId);
    wr.set(JAVA_LONG_UNALIGNED, SG_LIST, request + requestSize());
    if (size > 0) {
      IbvStructs.ALL.set(JAVA_LONG_UNALIGNED, last + NEXT, request);
    }
    last = request;
    size++;
  }

  /** Adds a scatter/gather entry to the last request. */
  final void addSge(long address, int length, int lkey) {
    long request = last();
    int count = IbvStructs.ALL.get(JAVA_INT_UNALIGNED, request + NUM_SGE);
    if (count == maxSge) {
      throw new IllegalStateException(
          "the list's work requests have at most " + maxSge + " scatter/gather entries");
    }
    long entry = request + requestSize() + count * SGE_SIZE;
    IbvStructs.ALL.set(JAVA_LONG_UNALIGNED, entry, address);
    IbvStructs.ALL.set(JAVA_INT_UNALIGNED, entry + SGE_LENGTH, length);
    IbvStructs.ALL.set(JAVA_INT_UNALIGNED, entry + SGE_LKEY, lkey);
    IbvStructs.ALL.set(JAVA_INT_UNALIGNED, request + NUM_SGE, count + 1);
  }

  final void set(long offset, int value) {
    IbvStructs.ALL.set(JAVA_INT_UNALIGNED, last() + offset, value);
  }

  final void set(long offset, long value) {
    IbvStructs.ALL.set(JAVA_LONG_UNALIGNED, last() + offset, value);
  }

  final int getInt(int index, long offset) {
    return memory.get(JAVA_INT_UNALIGNED, slot(index) + offset);
  }

  final long getLong(int index, long offset) {
    return memory.get(JAVA_LONG_UNALIGNED, slot(index) + offset);
  }

  /** Returns the address of a queue to post to. Throws EINVAL if the queue is closed. */
  final long addressOf(NativeObject queue, String operation) throws PostException {
    try {
      return queue.pointer().address();
    } catch (VerbsException e) {
      throw new PostException(operation, e.errno(), queue + " is closed", 0);
    }
  }

  /**
   * Posts the requests.
   *
   * @param function of {@link IbvOps}
   * @throws IllegalStateException if the list's arena is closed
   */
  final void post(long function, long queue, String operation) throws PostException {
    requireOpen();
    IbvStructs.ALL.set(JAVA_LONG_UNALIGNED, base, 0L);
    int error = IbvOps.post(function, queue, base + BAD_SIZE, base);
    Reference.reachabilityFence(this);
    if (error != 0) {
      // Some drivers return -1 or a negative error number. Drivers that name no request posted
      // none.
      long bad = (memory.get(JAVA_LONG_UNALIGNED, 0) - base - BAD_SIZE) / slotSize;
      throw new PostException(
          operation, Math.abs(error), "see its manual page", Math.clamp(bad, 0, size - 1));
    }
  }

  /** Returns the address of the last request and checks that it may be written. */
  private long last() {
    if (size == 0) {
      throw new IllegalStateException("the list is empty");
    }
    requireOpen();
    return last;
  }

  private void requireOpen() {
    if (!scope.isAlive()) {
      throw new IllegalStateException("the arena of the work requests is closed");
    }
  }

  private long slot(int index) {
    return BAD_SIZE + index * slotSize;
  }
}
