// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.cm;

import dev.sluice.verbs.ibv.IbvAhAttr;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * Address of a datagram service or a multicast group: {@code struct rdma_ud_param}
 * (rdma_get_cm_event(3)). {@link RdmaCmEvent#udParam} returns it on the thread that has the event;
 * a program makes one itself to answer the sender of a datagram. The values are copies and stay
 * valid after the event is closed. Immutable but for the array, which is not copied. Any thread.
 *
 * @param privateData bytes from the peer's application
 * @param ahAttr attributes for an address handle; null if the program has the handle already
 * @param qpNum the destination queue pair
 * @param qkey Q_Key of the destination
 */
public record RdmaUdParam(byte[] privateData, @Nullable IbvAhAttr ahAttr, int qpNum, int qkey) {
  /** {@code RDMA_UDP_QKEY}: the Q_Key of all queue pairs in the UDP port space. */
  public static final int UDP_QKEY = 0x01234567;

  /** Reads a {@code struct rdma_ud_param}. */
  static RdmaUdParam read(MemorySegment struct, byte[] privateData) {
    return new RdmaUdParam(
        privateData,
        IbvAhAttr.read(RdmaCmStructs.UD_PARAM.part(struct, "ah_attr")),
        RdmaCmStructs.UD_PARAM.getInt(struct, "qp_num"),
        RdmaCmStructs.UD_PARAM.getInt(struct, "qkey"));
  }
}
