package dev.sluice.rdma.verbs.cm;

import dev.sluice.rdma.verbs.ffi.CConstant;

/** What happened to an id (rdma_get_cm_event(3)). */
public enum RdmaCmEventType implements CConstant {
  ADDR_RESOLVED,
  ADDR_ERROR,
  ROUTE_RESOLVED,
  ROUTE_ERROR,
  /** On a listening id, with the new id of the connection. */
  CONNECT_REQUEST,
  /** On an active id without a queue pair of its own: the peer accepted. */
  CONNECT_RESPONSE,
  CONNECT_ERROR,
  UNREACHABLE,
  REJECTED,
  ESTABLISHED,
  DISCONNECTED,
  DEVICE_REMOVAL,
  MULTICAST_JOIN,
  MULTICAST_ERROR,
  ADDR_CHANGE,
  TIMEWAIT_EXIT
}
