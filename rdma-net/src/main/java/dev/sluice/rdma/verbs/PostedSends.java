// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.verbs;

import dev.sluice.rdma.SendWorkRequest;
import dev.sluice.verbs.PostException;
import dev.sluice.verbs.VerbsException;
import dev.sluice.verbs.ibv.IbvQp;
import dev.sluice.verbs.ibv.IbvSendWrList;
import java.lang.foreign.Arena;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Converts chains of READs to work requests of libibverbs. Its memory is reused and grows to the
 * longest chain. A chain is posted by one call, and rings the device's doorbell once. The {@link
 * VerbsQueuePair} creates it, and calls it under its lock.
 */
final class PostedSends {
  private static final int FIRST_CAPACITY = 16;

  private final IbvQp queuePair;
  private final int depth;
  private final long maxMessageBytes;

  /** Reused by all posts; null before the first. */
  private @Nullable IbvSendWrList list;

  PostedSends(IbvQp queuePair, long maxMessageBytes) {
    this.queuePair = queuePair;
    depth = queuePair.cap().maxSendWr();
    this.maxMessageBytes = maxMessageBytes;
  }

  void post(List<SendWorkRequest> chain) throws PostException {
    IbvSendWrList batch = reserve(chain.size());
    int posted = 0;
    while (posted < chain.size()) {
      String problem = fill(batch, chain, posted);
      post(batch, posted);
      posted += batch.size();
      if (problem != null) {
        throw new PostException("ibv_post_send", VerbsException.EINVAL, problem, posted);
      }
    }
  }

  private void post(IbvSendWrList batch, int alreadyPosted) throws PostException {
    try {
      queuePair.postSend(batch);
    } catch (PostException e) {
      String reason =
          e.errno() == VerbsException.ENOMEM ? "the send queue is full" : "the device refused it";
      throw new PostException("ibv_post_send", e.errno(), reason, alreadyPosted + e.badIndex());
    }
  }

  /** Reserves at most one entry more than the send queue holds: the device refuses that one. */
  private IbvSendWrList reserve(int requests) {
    int wanted = Math.min(requests, depth + 1);
    if (list == null || list.capacity() < wanted) {
      int capacity = Math.max(FIRST_CAPACITY, Integer.highestOneBit(wanted) << 1);
      list = new IbvSendWrList(Arena.ofAuto(), capacity, 1);
    }
    return list;
  }

  /**
   * Fills the list with the rest of the chain, up to the first request that cannot be posted.
   *
   * @return the reason why that request cannot be posted; null if all can
   */
  private @Nullable String fill(IbvSendWrList batch, List<SendWorkRequest> chain, int from) {
    batch.clear();
    int end = Math.min(chain.size(), from + batch.capacity());
    for (int i = from; i < end; i++) {
      SendWorkRequest request = chain.get(i);
      long length = Integer.toUnsignedLong(request.length());
      if (length > maxMessageBytes) {
        return length + " bytes are more than the device's maximum of " + maxMessageBytes;
      }
      add(batch, request);
    }
    return null;
  }

  private static void add(IbvSendWrList batch, SendWorkRequest request) {
    int flags = request.signaled() ? IbvSendWrList.Flags.SIGNALED : 0;
    batch.add(request.wrId(), IbvSendWrList.Opcode.RDMA_READ, flags);
    if (request.length() != 0) { // an empty READ names no region
      batch.sge(request.localAddress(), request.length(), request.lkey());
    }
    batch.rdma(request.remoteAddress(), request.rkey());
  }
}
