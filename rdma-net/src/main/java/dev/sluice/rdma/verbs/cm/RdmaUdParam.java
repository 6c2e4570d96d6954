package dev.sluice.rdma.verbs.cm;

import dev.sluice.rdma.verbs.ibv.IbvAhAttr;
import java.lang.foreign.MemorySegment;

/**
 * How to reach a datagram service or a multicast group: {@code struct rdma_ud_param}.
 *
 * @param privateData bytes from the peer's application
 * @param ahAttr for an address handle
 * @param qpNum the destination queue pair
 */
public record RdmaUdParam(byte[] privateData, IbvAhAttr ahAttr, int qpNum, int qkey) {
  /** Reads a {@code struct rdma_ud_param}. */
  static RdmaUdParam read(MemorySegment struct, byte[] privateData) {
    return new RdmaUdParam(
        privateData,
        IbvAhAttr.read(RdmaCmStructs.UD_PARAM.part(struct, "ah_attr")),
        RdmaCmStructs.UD_PARAM.getInt(struct, "qp_num"),
        RdmaCmStructs.UD_PARAM.getInt(struct, "qkey"));
  }
}
