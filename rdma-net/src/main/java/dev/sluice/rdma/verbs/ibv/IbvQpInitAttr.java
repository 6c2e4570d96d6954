package dev.sluice.rdma.verbs.ibv;

import dev.sluice.rdma.VerbsException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SegmentAllocator;

/**
 * What a queue pair is made of: {@code struct ibv_qp_init_attr}.
 *
 * @param sendCq takes completions of the send queue
 * @param recvCq takes completions of the receive queue; may be the same
 * @param srq takes the place of the receive queue; null for none
 * @param signalAll whether every send request is signaled
 */
public record IbvQpInitAttr(
    IbvQpType type, IbvCq sendCq, IbvCq recvCq, IbvSrq srq, IbvQpCap cap, boolean signalAll) {

  /** With one completion queue for both directions, and signaled requests where they say so. */
  public static IbvQpInitAttr of(IbvQpType type, IbvCq cq, IbvQpCap cap) {
    return new IbvQpInitAttr(type, cq, cq, null, cap, false);
  }

  /** As {@code struct ibv_qp_init_attr}. */
  public MemorySegment write(SegmentAllocator allocator) throws VerbsException {
    MemorySegment struct = IbvStructs.QP_INIT_ATTR.allocate(allocator);
    IbvStructs.QP_INIT_ATTR.set(struct, "send_cq", sendCq.pointer());
    IbvStructs.QP_INIT_ATTR.set(struct, "recv_cq", recvCq.pointer());
    if (srq != null) {
      IbvStructs.QP_INIT_ATTR.set(struct, "srq", srq.pointer());
    }
    cap.write(IbvStructs.QP_INIT_ATTR.part(struct, "cap"));
    IbvStructs.QP_INIT_ATTR.set(struct, "qp_type", type.value());
    IbvStructs.QP_INIT_ATTR.set(struct, "sq_sig_all", signalAll ? 1 : 0);
    return struct;
  }
}
