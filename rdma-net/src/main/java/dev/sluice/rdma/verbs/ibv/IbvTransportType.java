package dev.sluice.rdma.verbs.ibv;

import dev.sluice.rdma.verbs.ffi.CConstant;

/** How a device moves data ({@code enum ibv_transport_type}). */
public enum IbvTransportType implements CConstant {
  UNKNOWN(-1),
  IB(0),
  IWARP(1),
  USNIC(2),
  USNIC_UDP(3),
  UNSPECIFIED(4);

  private final int value;

  IbvTransportType(int value) {
    this.value = value;
  }

  @Override
  public int value() {
    return value;
  }
}
