package dev.sluice.rdma.verbs.ibv;

import dev.sluice.rdma.verbs.ffi.CConstant;

/** Among whom atomics are atomic ({@code enum ibv_atomic_cap}). */
public enum IbvAtomicCap implements CConstant {
  NONE(0),
  HCA(1),
  GLOB(2);

  private final int value;

  IbvAtomicCap(int value) {
    this.value = value;
  }

  @Override
  public int value() {
    return value;
  }
}
