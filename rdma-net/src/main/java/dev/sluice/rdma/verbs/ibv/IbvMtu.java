package dev.sluice.rdma.verbs.ibv;

import dev.sluice.rdma.verbs.ffi.CConstant;

/** Path MTUs ({@code enum ibv_mtu}). */
public enum IbvMtu implements CConstant {
  MTU_256,
  MTU_512,
  MTU_1024,
  MTU_2048,
  MTU_4096;

  /** C counts from 1 here. */
  @Override
  public int value() {
    return ordinal() + 1;
  }

  public int bytes() {
    return 128 << value();
  }
}
