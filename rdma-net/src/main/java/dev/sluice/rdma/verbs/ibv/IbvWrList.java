package dev.sluice.rdma.verbs.ibv;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.sluice.rdma.PostException;
import dev.sluice.rdma.verbs.ffi.CStruct;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * A chain of work requests in memory that C reads: slots of a fixed size, each a request and its
 * scatter/gather entries, linked as they are added. What send and receive requests have in common:
 * {@code wr_id}, {@code next}, {@code sg_list} and {@code num_sge} are at the same offsets in both.
 *
 * <p>A list is filled, posted, cleared and filled again; devices copy requests when they are
 * posted. One thread at a time. The caller's arena owns the memory; adding and posting allocate
 * nothing.
 */
abstract sealed class IbvWrList permits IbvSendWrList, IbvRecvWrList {
  private static final long NEXT = IbvStructs.RECV_WR.offset("next");
  private static final long SG_LIST = IbvStructs.RECV_WR.offset("sg_list");
  private static final long NUM_SGE = IbvStructs.RECV_WR.offset("num_sge");
  private static final long SGE_LENGTH = IbvStructs.SGE.offset("length");
  private static final long SGE_LKEY = IbvStructs.SGE.offset("lkey");
  private static final long SGE_SIZE = IbvStructs.SGE.size();

  /** Where C writes the request that it refused, before the first slot. */
  private static final long BAD_SIZE = Long.BYTES;

  private final MemorySegment memory;
  private final long base;
  private final long requestSize;
  private final long slotSize;
  private final int capacity;
  private final int maxSge;
  private int size;

  IbvWrList(Arena arena, CStruct request, int capacity, int maxSge) {
    this.capacity = capacity;
    this.maxSge = maxSge;
    requestSize = request.size();
    slotSize = requestSize + maxSge * SGE_SIZE;
    memory = arena.allocate(BAD_SIZE + capacity * slotSize, Long.BYTES);
    base = memory.address();
  }

  public final int capacity() {
    return capacity;
  }

  /** Requests that were added since {@link #clear}. */
  public final int size() {
    return size;
  }

  public final boolean isEmpty() {
    return size == 0;
  }

  public final void clear() {
    size = 0;
  }

  /**
   * Adds a request of zeros behind the last one.
   *
   * @throws IllegalStateException when the list is full
   */
  final void addRequest(long wrId) {
    if (size == capacity) {
      throw new IllegalStateException("the list has its " + capacity + " work requests");
    }
    long slot = slot(size);
    memory.asSlice(slot, requestSize).fill((byte) 0);
    memory.set(JAVA_LONG, slot, wrId);
    memory.set(JAVA_LONG, slot + SG_LIST, base + slot + requestSize);
    if (size > 0) {
      memory.set(JAVA_LONG, slot(size - 1) + NEXT, base + slot);
    }
    size++;
  }

  /** Adds a scatter/gather entry to the last request. */
  final void addSge(long address, int length, int lkey) {
    long request = last();
    int count = memory.get(JAVA_INT, request + NUM_SGE);
    if (count == maxSge) {
      throw new IllegalStateException(
          "the list's work requests have at most " + maxSge + " scatter/gather entries");
    }
    long entry = request + requestSize + count * SGE_SIZE;
    memory.set(JAVA_LONG, entry, address);
    memory.set(JAVA_INT, entry + SGE_LENGTH, length);
    memory.set(JAVA_INT, entry + SGE_LKEY, lkey);
    memory.set(JAVA_INT, request + NUM_SGE, count + 1);
  }

  final void set(long offset, int value) {
    memory.set(JAVA_INT, last() + offset, value);
  }

  final void set(long offset, long value) {
    memory.set(JAVA_LONG, last() + offset, value);
  }

  /** Address of the first request. */
  final long first() {
    return base + BAD_SIZE;
  }

  /** Address at which C names the request that it refused. */
  final long bad() {
    return base;
  }

  final PostException refused(String operation, int error) {
    long index = (memory.get(JAVA_LONG, 0) - first()) / slotSize;
    // Some drivers return -1 or a negative error number, and not all say which request was bad.
    return new PostException(
        operation, Math.abs(error), "see its manual page", Math.clamp(index, 0, size - 1));
  }

  /** Offset of the last request. */
  private long last() {
    if (size == 0) {
      throw new IllegalStateException("the list is empty");
    }
    return slot(size - 1);
  }

  private long slot(int index) {
    return BAD_SIZE + index * slotSize;
  }
}
