package dev.sluice.rdma.verbs.ibv;

import dev.sluice.rdma.PostException;
import dev.sluice.rdma.VerbsException;
import dev.sluice.rdma.verbs.ffi.NativeObject;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** A receive queue that several queue pairs share: {@code struct ibv_srq} (ibv_create_srq(3)). */
public final class IbvSrq extends NativeObject {
  private final IbvOps ops;
  private final long address;

  /**
   * Attributes of a shared receive queue: {@code struct ibv_srq_attr}.
   *
   * @param maxWr receives that it holds
   * @param maxSge scatter/gather entries of a receive
   * @param limit receives below which it raises SRQ_LIMIT_REACHED, once; 0 for never
   */
  public record Attr(int maxWr, int maxSge, int limit) {}

  IbvSrq(IbvPd pd, MemorySegment pointer) {
    super("shared receive queue", pd, pointer);
    ops = pd.context().ops();
    address = pointer.address();
  }

  /** Queue pairs use it. */
  @Override
  protected int rank() {
    return 3;
  }

  public Attr query() throws VerbsException {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment attr = IbvStructs.SRQ_ATTR.allocate(arena);
      LibIbverbs.QUERY_SRQ.call(pointer(), attr);
      return new Attr(
          IbvStructs.SRQ_ATTR.getInt(attr, "max_wr"),
          IbvStructs.SRQ_ATTR.getInt(attr, "max_sge"),
          IbvStructs.SRQ_ATTR.getInt(attr, "srq_limit"));
    }
  }

  /** Changes the number of receives that it holds (ibv_modify_srq(3)). */
  public void resize(int maxWr) throws VerbsException {
    modify("max_wr", maxWr, IbvSrqAttrMask.MAX_WR);
  }

  /** Asks for one SRQ_LIMIT_REACHED event below so many receives (ibv_modify_srq(3)). */
  public void limit(int receives) throws VerbsException {
    modify("srq_limit", receives, IbvSrqAttrMask.LIMIT);
  }

  private void modify(String member, int value, int mask) throws VerbsException {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment attr = IbvStructs.SRQ_ATTR.allocate(arena);
      IbvStructs.SRQ_ATTR.set(attr, member, value);
      LibIbverbs.MODIFY_SRQ.call(pointer(), attr, mask);
    }
  }

  /**
   * Posts receives (ibv_post_srq_recv(3)). Allocates nothing.
   *
   * @throws PostException ENOMEM when the queue is full; those before the bad one are posted
   */
  public void postRecv(IbvRecvWrList requests) throws PostException {
    if (requests.isEmpty()) {
      return;
    }
    int error = ops.postSrqRecv(address, requests.first(), requests.bad());
    if (error != 0) {
      throw requests.refused("ibv_post_srq_recv", error);
    }
  }

  @Override
  protected void destroy(MemorySegment pointer) throws VerbsException {
    LibIbverbs.DESTROY_SRQ.call(pointer);
  }
}
