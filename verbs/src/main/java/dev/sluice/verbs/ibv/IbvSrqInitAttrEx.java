// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.ibv;

import dev.sluice.verbs.VerbsException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SegmentAllocator;
import org.jspecify.annotations.Nullable;

/**
 * Extended attributes of a new shared receive queue: {@code struct ibv_srq_init_attr_ex}
 * (ibv_create_srq_ex(3)). {@link IbvPd#createSrqEx} writes it, or an id of rdma_cm that creates the
 * queue.
 *
 * @param maxWr minimum number of receives that the queue holds
 * @param maxSge scatter/gather entries of a receive
 * @param xrcd domain of a queue of type XRC, null for the default domain of an id; else null
 * @param cq queue for the completions of the types XRC and TM; null lets an id create one for XRC
 * @param maxTags number of tags that a queue of type TM holds; else 0
 * @param maxOps maximum number of posted operations on its tags; else 0
 */
public record IbvSrqInitAttrEx(
    IbvSrq.Type type,
    int maxWr,
    int maxSge,
    @Nullable IbvXrcd xrcd,
    @Nullable IbvCq cq,
    int maxTags,
    int maxOps) {
  /** Attributes that the structure holds ({@code comp_mask}). Bits, to be combined by |. */
  public interface Mask {
    int TYPE = 1;
    int PD = 1 << 1;
    int XRCD = 1 << 2;
    int CQ = 1 << 3;
    int TM = 1 << 4;
  }

  /** Returns attributes of a queue that the queue pairs of an XRC domain deliver to. */
  public static IbvSrqInitAttrEx xrc(
      int maxWr, int maxSge, @Nullable IbvXrcd xrcd, @Nullable IbvCq cq) {
    return new IbvSrqInitAttrEx(IbvSrq.Type.XRC, maxWr, maxSge, xrcd, cq, 0, 0);
  }

  /** Returns these attributes as a {@code struct ibv_srq_init_attr_ex}. */
  public MemorySegment write(SegmentAllocator allocator, IbvPd pd) throws VerbsException {
    MemorySegment struct = IbvStructs.SRQ_INIT_ATTR_EX.allocate(allocator);
    IbvStructs.SRQ_INIT_ATTR_EX.set(struct, "attr.max_wr", maxWr);
    IbvStructs.SRQ_INIT_ATTR_EX.set(struct, "attr.max_sge", maxSge);
    IbvStructs.SRQ_INIT_ATTR_EX.set(struct, "srq_type", type.value());
    IbvStructs.SRQ_INIT_ATTR_EX.set(struct, "pd", pd);
    IbvStructs.SRQ_INIT_ATTR_EX.set(struct, "xrcd", xrcd);
    IbvStructs.SRQ_INIT_ATTR_EX.set(struct, "cq", cq);
    IbvStructs.SRQ_INIT_ATTR_EX.set(struct, "tm_cap.max_num_tags", maxTags);
    IbvStructs.SRQ_INIT_ATTR_EX.set(struct, "tm_cap.max_ops", maxOps);
    int objects = (xrcd == null ? 0 : Mask.XRCD) | (cq == null ? 0 : Mask.CQ);
    int mask = Mask.TYPE | Mask.PD | objects | (type == IbvSrq.Type.TM ? Mask.TM : 0);
    IbvStructs.SRQ_INIT_ATTR_EX.set(struct, "comp_mask", mask);
    return struct;
  }
}
