package dev.sluice.rdma.verbs;

import dev.sluice.rdma.PostException;
import dev.sluice.rdma.QueuePairCapabilities;
import dev.sluice.rdma.ReceiveWorkRequest;
import dev.sluice.rdma.ScatterGatherEntry;
import dev.sluice.rdma.VerbsException;
import dev.sluice.rdma.verbs.ibv.IbvQp;
import dev.sluice.rdma.verbs.ibv.IbvRecvWrList;
import java.lang.foreign.Arena;
import java.util.List;

/** As {@link PostedSends}, for receives. */
final class PostedReceives {
  private static final int FIRST_CAPACITY = 16;

  private final IbvQp queuePair;
  private final QueuePairCapabilities limits;
  private IbvRecvWrList list;

  PostedReceives(IbvQp queuePair, QueuePairCapabilities limits) {
    this.queuePair = queuePair;
    this.limits = limits;
  }

  void post(List<ReceiveWorkRequest> chain) throws PostException {
    reserve(chain.size());
    int posted = 0;
    while (posted < chain.size()) {
      boolean complete = fill(chain, posted);
      post(posted);
      posted += list.size();
      if (!complete) {
        throw new PostException(
            "ibv_post_recv",
            VerbsException.EINVAL,
            "it has more scatter/gather entries than " + limits.maxRecvSge(),
            posted);
      }
    }
  }

  private void post(int alreadyPosted) throws PostException {
    try {
      queuePair.postRecv(list);
    } catch (PostException e) {
      String reason =
          e.errno() == VerbsException.ENOMEM
              ? "the receive queue is full"
              : "the device refused it";
      throw new PostException("ibv_post_recv", e.errno(), reason, alreadyPosted + e.badIndex());
    }
  }

  private void reserve(int requests) {
    int wanted = Math.min(requests, limits.maxRecvWr() + 1);
    if (list == null || list.capacity() < wanted) {
      int capacity = Math.max(FIRST_CAPACITY, Integer.highestOneBit(wanted) << 1);
      list = new IbvRecvWrList(Arena.ofAuto(), capacity, limits.maxRecvSge());
    }
  }

  /**
   * Fills the list with what is left of the chain.
   *
   * @return false if a receive could not be added; it comes after those that were
   */
  private boolean fill(List<ReceiveWorkRequest> chain, int from) {
    list.clear();
    int end = Math.min(chain.size(), from + list.capacity());
    for (int i = from; i < end; i++) {
      List<ScatterGatherEntry> entries = chain.get(i).scatterGather();
      if (entries.size() > limits.maxRecvSge()) {
        return false;
      }
      list.add(chain.get(i).wrId());
      for (int j = 0; j < entries.size(); j++) {
        ScatterGatherEntry entry = entries.get(j);
        list.sge(entry.address(), entry.length(), entry.lkey());
      }
    }
    return true;
  }
}
