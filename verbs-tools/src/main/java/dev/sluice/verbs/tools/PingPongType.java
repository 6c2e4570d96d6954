// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.tools;

import dev.sluice.verbs.ibv.IbvGrh;
import dev.sluice.verbs.ibv.IbvQp;

/** The ping-pong programs: ibv_rc_pingpong and its siblings, whose formats each type has. */
enum PingPongType {
  RC(IbvQp.Type.RC),
  UC(IbvQp.Type.UC),
  UD(IbvQp.Type.UD),
  /** Several RC queue pairs that receive from one queue. */
  SRQ(IbvQp.Type.RC);

  /** Number of addresses that ibv_srq_pingpong sends, however many queue pairs are in use. */
  static final int SRQ_ADDRESSES = 256;

  /** Bytes before a datagram's data: the global route header. */
  private static final int GRH_LENGTH = (int) IbvGrh.BYTES;

  private final IbvQp.Type qpType;

  PingPongType(IbvQp.Type qpType) {
    this.qpType = qpType;
  }

  IbvQp.Type qpType() {
    return qpType;
  }

  /** Number of addresses that each side sends. */
  int addresses() {
    return this == SRQ ? SRQ_ADDRESSES : 1;
  }

  /** Number of bytes that a receive puts before the data. */
  int headerLength() {
    return this == UD ? GRH_LENGTH : 0;
  }
}
