package dev.sluice.rdma.verbs.ibv;

import dev.sluice.rdma.verbs.ffi.CConstant;

/** Asynchronous events (ibv_get_async_event(3)). */
public enum IbvEventType implements CConstant {
  CQ_ERR,
  QP_FATAL,
  QP_REQ_ERR,
  QP_ACCESS_ERR,
  COMM_EST,
  SQ_DRAINED,
  PATH_MIG,
  PATH_MIG_ERR,
  DEVICE_FATAL,
  PORT_ACTIVE,
  PORT_ERR,
  LID_CHANGE,
  PKEY_CHANGE,
  SM_CHANGE,
  SRQ_ERR,
  SRQ_LIMIT_REACHED,
  QP_LAST_WQE_REACHED,
  CLIENT_REREGISTER,
  GID_CHANGE,
  WQ_FATAL
}
