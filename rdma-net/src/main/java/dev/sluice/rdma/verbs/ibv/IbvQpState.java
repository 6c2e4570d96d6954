package dev.sluice.rdma.verbs.ibv;

import dev.sluice.rdma.verbs.ffi.CConstant;

/** States of a queue pair (ibv_modify_qp(3)). */
public enum IbvQpState implements CConstant {
  RESET,
  INIT,
  RTR,
  RTS,
  SQD,
  SQE,
  ERR,
  UNKNOWN
}
