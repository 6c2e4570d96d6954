package dev.sluice.rdma.verbs.ibv;

import dev.sluice.rdma.verbs.ffi.CConstant;

/** Asynchronous events (ibv_get_async_event(3)). */
public enum IbvEventType implements CConstant {
  CQ_ERR(0),
  QP_FATAL(1),
  QP_REQ_ERR(2),
  QP_ACCESS_ERR(3),
  COMM_EST(4),
  SQ_DRAINED(5),
  PATH_MIG(6),
  PATH_MIG_ERR(7),
  DEVICE_FATAL(8),
  PORT_ACTIVE(9),
  PORT_ERR(10),
  LID_CHANGE(11),
  PKEY_CHANGE(12),
  SM_CHANGE(13),
  SRQ_ERR(14),
  SRQ_LIMIT_REACHED(15),
  QP_LAST_WQE_REACHED(16),
  CLIENT_REREGISTER(17),
  GID_CHANGE(18),
  WQ_FATAL(19);

  private final int value;

  IbvEventType(int value) {
    this.value = value;
  }

  @Override
  public int value() {
    return value;
  }
}
