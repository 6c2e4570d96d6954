package dev.sluice.rdma.verbs.ibv;

import dev.sluice.rdma.verbs.ffi.CConstant;

/** What a GID is for ({@code enum ibv_gid_type}). */
public enum IbvGidType implements CConstant {
  IB(0),
  ROCE_V1(1),
  ROCE_V2(2);

  private final int value;

  IbvGidType(int value) {
    this.value = value;
  }

  @Override
  public int value() {
    return value;
  }
}
