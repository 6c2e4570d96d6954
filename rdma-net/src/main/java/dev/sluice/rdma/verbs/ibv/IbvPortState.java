package dev.sluice.rdma.verbs.ibv;

import dev.sluice.rdma.verbs.ffi.CConstant;

/** Logical state of a port ({@code enum ibv_port_state}). */
public enum IbvPortState implements CConstant {
  NOP(0),
  DOWN(1),
  INIT(2),
  ARMED(3),
  ACTIVE(4),
  ACTIVE_DEFER(5);

  private final int value;

  IbvPortState(int value) {
    this.value = value;
  }

  @Override
  public int value() {
    return value;
  }
}
