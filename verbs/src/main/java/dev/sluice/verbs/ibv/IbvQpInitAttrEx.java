// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.ibv;

import static dev.sluice.verbs.ffi.NativeFunction.HEAP;

import dev.sluice.verbs.VerbsException;
import dev.sluice.verbs.ffi.NativeFunction;
import dev.sluice.verbs.ffi.NativeObject;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SegmentAllocator;

/**
 * Extended attributes of a new queue pair: {@code struct ibv_qp_init_attr_ex}
 * (ibv_create_qp_ex(3)). The attributes of raw packets and work queues (TSO, RSS) are not bound.
 *
 * @param attr attributes that each queue pair has
 * @param sendOps operations that may be posted, of {@link IbvQpEx.SendOps}; 0 omits the attribute
 * @param createFlags of {@link CreateFlags}; 0 omits the attribute
 * @param sourceQpn queue pair number to send as, with {@link CreateFlags#SOURCE_QPN}
 */
public record IbvQpInitAttrEx(IbvQpInitAttr attr, long sendOps, int createFlags, int sourceQpn) {
  /** Attributes that the structure holds ({@code comp_mask}). Bits, to be combined by |. */
  public interface Mask {
    int PD = 1;
    int XRCD = 1 << 1;
    int CREATE_FLAGS = 1 << 2;
    int MAX_TSO_HEADER = 1 << 3;
    int IND_TABLE = 1 << 4;
    int RX_HASH = 1 << 5;
    int SEND_OPS_FLAGS = 1 << 6;
  }

  /** Properties of a new queue pair ({@code create_flags}). Bits, to be combined by |. */
  public interface CreateFlags {
    int BLOCK_SELF_MCAST_LB = 1 << 1;
    int SCATTER_FCS = 1 << 8;
    int CVLAN_STRIPPING = 1 << 9;
    int SOURCE_QPN = 1 << 10;
    int PCI_WRITE_END_PADDING = 1 << 11;
  }

  /** Returns attributes of a queue pair that allows only some operations. */
  public static IbvQpInitAttrEx of(IbvQpInitAttr attr, long sendOps) {
    return new IbvQpInitAttrEx(attr, sendOps, 0, 0);
  }

  /** Returns a copy with other attributes that each queue pair has. */
  public IbvQpInitAttrEx with(IbvQpInitAttr newAttr) {
    return new IbvQpInitAttrEx(newAttr, sendOps, createFlags, sourceQpn);
  }

  /**
   * Creates a queue pair, which the caller adopts. Its parent is a protection domain or an XRC
   * domain, with a bit of {@link Mask} and a member of the structure.
   */
  IbvQp create(NativeObject parent, IbvContext context, int parentMask, String parentMember)
      throws VerbsException {
    MemorySegment parentPointer = parent.pointer();
    NativeFunction createQpEx =
        context.operation("ptr ibv_create_qp_ex(ptr context, ptr qp_init_attr_ex)");
    MemorySegment struct = write(HEAP, parentMask, parentMember, parentPointer);
    MemorySegment qp = createQpEx.callForPointer(context.pointer(), struct);
    IbvQpCap cap = IbvQpCap.ofInitAttr(struct);
    return new IbvQp(parent, context, qp, cap, sendOps, LibIbverbs.DESTROY_QP::invoke);
  }

  /** Returns a {@code struct ibv_qp_init_attr_ex} that names a {@code struct ibv_pd}. */
  public MemorySegment write(SegmentAllocator allocator, MemorySegment pd) throws VerbsException {
    return write(allocator, Mask.PD, "pd", pd);
  }

  private MemorySegment write(
      SegmentAllocator allocator, int parentMask, String parentMember, MemorySegment parent)
      throws VerbsException {
    MemorySegment struct = IbvStructs.QP_INIT_ATTR_EX.allocate(allocator);
    attr.write(struct);
    IbvStructs.QP_INIT_ATTR_EX.set(struct, parentMember, parent);
    IbvStructs.QP_INIT_ATTR_EX.set(struct, "send_ops_flags", sendOps);
    IbvStructs.QP_INIT_ATTR_EX.set(struct, "create_flags", createFlags);
    IbvStructs.QP_INIT_ATTR_EX.set(struct, "source_qpn", sourceQpn);
    int flags = createFlags == 0 ? 0 : Mask.CREATE_FLAGS;
    int mask = parentMask | flags | (sendOps == 0 ? 0 : Mask.SEND_OPS_FLAGS);
    IbvStructs.QP_INIT_ATTR_EX.set(struct, "comp_mask", mask);
    return struct;
  }
}
