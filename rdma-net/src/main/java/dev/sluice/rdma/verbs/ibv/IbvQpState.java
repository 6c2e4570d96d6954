package dev.sluice.rdma.verbs.ibv;

import dev.sluice.rdma.verbs.ffi.CConstant;

/** States of a queue pair (ibv_modify_qp(3)). */
public enum IbvQpState implements CConstant {
  RESET(0),
  INIT(1),
  RTR(2),
  RTS(3),
  SQD(4),
  SQE(5),
  ERR(6),
  UNKNOWN(7);

  private final int value;

  IbvQpState(int value) {
    this.value = value;
  }

  @Override
  public int value() {
    return value;
  }
}
