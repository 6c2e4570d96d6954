package dev.sluice.rdma.verbs.ibv;

import dev.sluice.rdma.verbs.ffi.CConstant;

/** Transport services of a queue pair (ibv_create_qp(3)). */
public enum IbvQpType implements CConstant {
  RC(2),
  UC(3),
  UD(4),
  RAW_PACKET(8),
  XRC_SEND(9),
  XRC_RECV(10);

  private final int value;

  IbvQpType(int value) {
    this.value = value;
  }

  @Override
  public int value() {
    return value;
  }
}
