package dev.sluice.rdma.tools;

import dev.sluice.rdma.verbs.ibv.IbvQpType;

/** The ping-pong programs: ibv_rc_pingpong and its siblings. */
enum PingPongType {
  RC(IbvQpType.RC),
  UC(IbvQpType.UC),
  UD(IbvQpType.UD),
  /** Several RC queue pairs that receive from one queue. */
  SRQ(IbvQpType.RC);

  /** Addresses that ibv_srq_pingpong always sends, however many queue pairs it uses. */
  static final int SRQ_ADDRESSES = 256;

  /** Bytes before a datagram's data: the global route header. */
  private static final int GRH_LENGTH = 40;

  private final IbvQpType qpType;

  PingPongType(IbvQpType qpType) {
    this.qpType = qpType;
  }

  IbvQpType qpType() {
    return qpType;
  }

  /** Addresses that each side sends. */
  int addresses() {
    return this == SRQ ? SRQ_ADDRESSES : 1;
  }

  /** Bytes that a receive puts before the data. */
  int headerLength() {
    return this == UD ? GRH_LENGTH : 0;
  }
}
