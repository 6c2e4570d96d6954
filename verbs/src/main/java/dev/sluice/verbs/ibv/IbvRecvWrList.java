// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.ibv;

import java.lang.foreign.Arena;

/**
 * A chain of {@code struct ibv_recv_wr} (ibv_post_recv(3)). One thread at a time fills it, posts it
 * to a queue pair or a shared receive queue, clears it, and fills it again.
 */
public final class IbvRecvWrList extends IbvWrList {
  private static final long SIZE = IbvStructs.RECV_WR.size();

  /** Takes the arguments of {@link IbvSendWrList#IbvSendWrList}. */
  public IbvRecvWrList(Arena arena, int capacity, int maxSge) {
    super(arena, IbvStructs.RECV_WR, capacity, maxSge);
  }

  @Override
  long requestSize() {
    return SIZE;
  }

  @Override
  long clearedSize() {
    return SIZE;
  }

  /** Adds a receive without memory. Throws an IllegalStateException if the list is full. */
  public IbvRecvWrList add(long wrId) {
    addRequest(wrId);
    return this;
  }

  /**
   * Adds bytes of memory to the last receive. Throws an IllegalStateException if the list is empty
   * or the receive has its maximum of entries.
   */
  public IbvRecvWrList sge(long address, int length, int lkey) {
    addSge(address, length, lkey);
    return this;
  }
}
