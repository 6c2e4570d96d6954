package dev.sluice.rdma;

/**
 * What one side of a reliable connection must know of the other: the parameters that RDMA programs
 * exchange out of band before INIT to RTR (as ibv_rc_pingpong(1) does).
 *
 * @param qpNumber queue pair number, 24 bits
 * @param psn first packet sequence number that this side sends, 24 bits, random; 0 on the software
 *     provider
 * @param lid local identifier of the port; 0 on RoCE and on the software provider
 * @param gid global identifier of the port
 * @param mtu active path MTU of the port in bytes, of which both sides use the smaller
 * @param maxDestRdAtomic READs that this side serves at a time
 * @param providerData what only the same provider's peer understands. It may hold a one-time
 *     secret: never log it.
 */
public record QueuePairAddress(
    int qpNumber, int psn, int lid, Gid gid, int mtu, int maxDestRdAtomic, byte[] providerData) {

  @Override
  public String toString() {
    return "QP 0x%06x at %s lid %d mtu %d".formatted(qpNumber, gid, lid, mtu);
  }
}
