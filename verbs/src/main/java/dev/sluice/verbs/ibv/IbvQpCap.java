// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.ibv;

import java.lang.foreign.MemorySegment;

/**
 * Sizes of a queue pair's queues: {@code struct ibv_qp_cap} (ibv_create_qp(3)). A device may grant
 * more than the request. Immutable.
 *
 * @param maxSendWr work requests of the send queue
 * @param maxRecvWr work requests of the receive queue
 * @param maxSendSge scatter/gather entries of a send request
 * @param maxRecvSge scatter/gather entries of a receive
 * @param maxInlineData bytes that may be posted inline
 */
public record IbvQpCap(
    int maxSendWr, int maxRecvWr, int maxSendSge, int maxRecvSge, int maxInlineData) {

  void write(MemorySegment struct) {
    IbvStructs.QP_CAP.set(struct, "max_send_wr", maxSendWr);
    IbvStructs.QP_CAP.set(struct, "max_recv_wr", maxRecvWr);
    IbvStructs.QP_CAP.set(struct, "max_send_sge", maxSendSge);
    IbvStructs.QP_CAP.set(struct, "max_recv_sge", maxRecvSge);
    IbvStructs.QP_CAP.set(struct, "max_inline_data", maxInlineData);
  }

  static IbvQpCap read(MemorySegment struct) {
    return new IbvQpCap(
        IbvStructs.QP_CAP.getInt(struct, "max_send_wr"),
        IbvStructs.QP_CAP.getInt(struct, "max_recv_wr"),
        IbvStructs.QP_CAP.getInt(struct, "max_send_sge"),
        IbvStructs.QP_CAP.getInt(struct, "max_recv_sge"),
        IbvStructs.QP_CAP.getInt(struct, "max_inline_data"));
  }

  /** Reads the capacities that the device wrote to a {@code struct ibv_qp_init_attr}. */
  public static IbvQpCap ofInitAttr(MemorySegment initAttr) {
    return read(IbvStructs.QP_INIT_ATTR.part(initAttr, "cap"));
  }
}
