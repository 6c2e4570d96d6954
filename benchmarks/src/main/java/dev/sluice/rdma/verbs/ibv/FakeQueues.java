package dev.sluice.rdma.verbs.ibv;

import java.lang.foreign.MemorySegment;

/**
 * Queues of a device that is not one, for measuring what calls cost. In this package because only
 * libibverbs makes real ones.
 */
public final class FakeQueues {
  private final IbvContext context;

  /**
   * @param context a {@code struct ibv_context}
   */
  public FakeQueues(MemorySegment context) {
    this.context = IbvContext.borrowed(context);
  }

  /** Whoever uses it does not close it. */
  public IbvQp qp(MemorySegment pd, MemorySegment qp) {
    return new IbvQp(new IbvPd(context, pd, false), qp, null, pointer -> {});
  }

  /** Whoever uses it does not close it. */
  public IbvCq cq(MemorySegment cq) {
    return new IbvCq(context, cq, null);
  }
}
