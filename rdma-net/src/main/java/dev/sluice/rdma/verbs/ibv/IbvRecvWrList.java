package dev.sluice.rdma.verbs.ibv;

import java.lang.foreign.Arena;

/** A chain of {@code struct ibv_recv_wr} (ibv_post_recv(3)). */
public final class IbvRecvWrList extends IbvWrList {
  /**
   * @param arena owns the memory, and is to be closed by its owner after the last use of the list
   * @param capacity receives
   * @param maxSge scatter/gather entries of a receive
   */
  public IbvRecvWrList(Arena arena, int capacity, int maxSge) {
    super(arena, IbvStructs.RECV_WR, capacity, maxSge);
  }

  /** Adds a receive. */
  public IbvRecvWrList add(long wrId) {
    addRequest(wrId);
    return this;
  }

  /**
   * Memory for the receive that was added last.
   *
   * @param length bytes
   */
  public IbvRecvWrList sge(long address, int length, int lkey) {
    addSge(address, length, lkey);
    return this;
  }
}
