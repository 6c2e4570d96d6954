package dev.sluice.rdma.verbs.ibv;

import dev.sluice.rdma.verbs.ffi.CConstant;

/** What a port's link is (ibv_query_port(3)). */
public enum IbvLinkLayer implements CConstant {
  UNSPECIFIED(0),
  INFINIBAND(1),
  ETHERNET(2);

  private final int value;

  IbvLinkLayer(int value) {
    this.value = value;
  }

  @Override
  public int value() {
    return value;
  }
}
