package dev.sluice.rdma.verbs.ibv;

import dev.sluice.rdma.verbs.ffi.CConstant;

/** How a device moves data ({@code enum ibv_transport_type}). */
public enum IbvTransportType implements CConstant {
  UNKNOWN,
  IB,
  IWARP,
  USNIC,
  USNIC_UDP,
  UNSPECIFIED;

  /** C counts from -1 here. */
  @Override
  public int value() {
    return ordinal() - 1;
  }
}
