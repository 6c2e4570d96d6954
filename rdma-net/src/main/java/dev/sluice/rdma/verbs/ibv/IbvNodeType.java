package dev.sluice.rdma.verbs.ibv;

import dev.sluice.rdma.verbs.ffi.CConstant;

/** What a device is ({@code enum ibv_node_type}). */
public enum IbvNodeType implements CConstant {
  UNKNOWN(-1),
  CA(1),
  SWITCH(2),
  ROUTER(3),
  RNIC(4),
  USNIC(5),
  USNIC_UDP(6),
  UNSPECIFIED(7);

  private final int value;

  IbvNodeType(int value) {
    this.value = value;
  }

  @Override
  public int value() {
    return value;
  }
}
