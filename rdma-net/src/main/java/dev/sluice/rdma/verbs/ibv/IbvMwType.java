package dev.sluice.rdma.verbs.ibv;

import dev.sluice.rdma.verbs.ffi.CConstant;

/** Types of memory windows (ibv_alloc_mw(3)). */
public enum IbvMwType implements CConstant {
  TYPE_1(1),
  TYPE_2(2);

  private final int value;

  IbvMwType(int value) {
    this.value = value;
  }

  @Override
  public int value() {
    return value;
  }
}
