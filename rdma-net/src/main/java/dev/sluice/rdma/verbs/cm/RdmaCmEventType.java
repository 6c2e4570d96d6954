package dev.sluice.rdma.verbs.cm;

import dev.sluice.rdma.verbs.ffi.CConstant;

/** What happened to an id (rdma_get_cm_event(3)). */
public enum RdmaCmEventType implements CConstant {
  ADDR_RESOLVED(0),
  ADDR_ERROR(1),
  ROUTE_RESOLVED(2),
  ROUTE_ERROR(3),
  /** On a listening id, with the new id of the connection. */
  CONNECT_REQUEST(4),
  /** On an active id without a queue pair of its own: the peer accepted. */
  CONNECT_RESPONSE(5),
  CONNECT_ERROR(6),
  UNREACHABLE(7),
  REJECTED(8),
  ESTABLISHED(9),
  DISCONNECTED(10),
  DEVICE_REMOVAL(11),
  MULTICAST_JOIN(12),
  MULTICAST_ERROR(13),
  ADDR_CHANGE(14),
  TIMEWAIT_EXIT(15);

  private final int value;

  RdmaCmEventType(int value) {
    this.value = value;
  }

  @Override
  public int value() {
    return value;
  }
}
