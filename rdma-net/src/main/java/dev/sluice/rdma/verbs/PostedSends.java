package dev.sluice.rdma.verbs;

import dev.sluice.rdma.PostException;
import dev.sluice.rdma.QueuePairCapabilities;
import dev.sluice.rdma.ScatterGatherEntry;
import dev.sluice.rdma.SendWorkRequest;
import dev.sluice.rdma.VerbsException;
import dev.sluice.rdma.verbs.ibv.IbvQp;
import dev.sluice.rdma.verbs.ibv.IbvSendFlags;
import dev.sluice.rdma.verbs.ibv.IbvSendWrList;
import dev.sluice.rdma.verbs.ibv.IbvWrOpcode;
import java.lang.foreign.Arena;
import java.util.List;

/**
 * Turns chains of READs into those of libibverbs, in memory that is used again and grows to the
 * longest chain: a chain is posted with one call, and rings the device's doorbell once. Called with
 * the queue pair's lock held.
 */
final class PostedSends {
  private static final int FIRST_CAPACITY = 16;

  private final IbvQp queuePair;
  private final QueuePairCapabilities limits;
  private final long maxMessageBytes;
  private IbvSendWrList list;

  PostedSends(IbvQp queuePair, QueuePairCapabilities limits, long maxMessageBytes) {
    this.queuePair = queuePair;
    this.limits = limits;
    this.maxMessageBytes = maxMessageBytes;
  }

  void post(List<SendWorkRequest> chain) throws PostException {
    reserve(chain.size());
    int posted = 0;
    while (posted < chain.size()) {
      String problem = fill(chain, posted);
      post(posted);
      posted += list.size();
      if (problem != null) {
        throw new PostException("ibv_post_send", VerbsException.EINVAL, problem, posted);
      }
    }
  }

  private void post(int alreadyPosted) throws PostException {
    try {
      queuePair.postSend(list);
    } catch (PostException e) {
      String reason =
          e.errno() == VerbsException.ENOMEM ? "the send queue is full" : "the device refused it";
      throw new PostException("ibv_post_send", e.errno(), reason, alreadyPosted + e.badIndex());
    }
  }

  /** One more than fits is enough, since that one is refused. */
  private void reserve(int requests) {
    int wanted = Math.min(requests, limits.maxSendWr() + 1);
    if (list == null || list.capacity() < wanted) {
      int capacity = Math.max(FIRST_CAPACITY, Integer.highestOneBit(wanted) << 1);
      list = new IbvSendWrList(Arena.ofAuto(), capacity, limits.maxSendSge());
    }
  }

  /**
   * Fills the list with what is left of the chain, up to the first request that cannot be posted.
   *
   * @return why that one cannot be; null if all can
   */
  private String fill(List<SendWorkRequest> chain, int from) {
    list.clear();
    int end = Math.min(chain.size(), from + list.capacity());
    for (int i = from; i < end; i++) {
      SendWorkRequest request = chain.get(i);
      String problem = problem(request);
      if (problem != null) {
        return problem;
      }
      add(request);
    }
    return null;
  }

  /** What libraries would not notice, or would not call EINVAL. */
  private String problem(SendWorkRequest request) {
    long length = request.length();
    if (request.scatterGather().size() > limits.maxSendSge()) {
      return "it has more scatter/gather entries than " + limits.maxSendSge();
    }
    return length > maxMessageBytes ? length + " bytes of at most " + maxMessageBytes : null;
  }

  private void add(SendWorkRequest request) {
    int flags = request.signaled() ? IbvSendFlags.SIGNALED : 0;
    list.add(request.wrId(), IbvWrOpcode.RDMA_READ, flags);
    List<ScatterGatherEntry> entries = request.scatterGather();
    for (int i = 0; i < entries.size(); i++) {
      ScatterGatherEntry entry = entries.get(i);
      list.sge(entry.address(), entry.length(), entry.lkey());
    }
    list.rdma(request.remoteAddress(), request.rkey());
  }
}
