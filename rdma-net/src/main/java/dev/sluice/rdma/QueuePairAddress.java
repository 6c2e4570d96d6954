// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma;

import dev.sluice.verbs.Gid;

/**
 * Address of one side of a reliable connection: the parameters that RDMA programs exchange out of
 * band before INIT to RTR (as ibv_rc_pingpong(1) does). Peers may be of another release, so a
 * changed component changes the protocol.
 *
 * @param qpNumber queue pair number, 24 bits
 * @param psn first packet sequence number that this side sends, 24 bits, random; 0 on the software
 *     provider
 * @param lid local identifier of the port; 0 on RoCE and on the software provider
 * @param gid global identifier of the port
 * @param mtu active path MTU of the port in bytes; the connection uses the smaller of both sides
 * @param maxDestRdAtomic READs that this side serves at a time
 * @param providerData data that only a peer with the same provider understands. It may hold a
 *     one-time secret: never log it.
 */
public record QueuePairAddress(
    int qpNumber, int psn, int lid, Gid gid, int mtu, int maxDestRdAtomic, byte[] providerData) {

  /** Returns a copy with other provider data. */
  public QueuePairAddress withProviderData(byte[] data) {
    return new QueuePairAddress(qpNumber, psn, lid, gid, mtu, maxDestRdAtomic, data);
  }

  @Override
  public String toString() {
    return "QP 0x%06x at %s lid %d mtu %d".formatted(qpNumber, gid, lid, mtu);
  }
}
