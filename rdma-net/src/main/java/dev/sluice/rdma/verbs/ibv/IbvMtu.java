package dev.sluice.rdma.verbs.ibv;

import dev.sluice.rdma.verbs.ffi.CConstant;

/** Path MTUs ({@code enum ibv_mtu}). */
public enum IbvMtu implements CConstant {
  MTU_256(1),
  MTU_512(2),
  MTU_1024(3),
  MTU_2048(4),
  MTU_4096(5);

  private final int value;

  IbvMtu(int value) {
    this.value = value;
  }

  @Override
  public int value() {
    return value;
  }

  public int bytes() {
    return 128 << value;
  }
}
