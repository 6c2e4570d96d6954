package dev.sluice.rdma.verbs.ibv;

import dev.sluice.rdma.verbs.ffi.CConstant;

/** Logical state of a port ({@code enum ibv_port_state}). */
public enum IbvPortState implements CConstant {
  NOP,
  DOWN,
  INIT,
  ARMED,
  ACTIVE,
  ACTIVE_DEFER
}
