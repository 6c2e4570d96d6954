package dev.sluice.rdma.verbs.ibv;

import dev.sluice.rdma.verbs.ffi.CConstant;

/** What a work request does (ibv_post_send(3)). */
public enum IbvWrOpcode implements CConstant {
  RDMA_WRITE(0),
  RDMA_WRITE_WITH_IMM(1),
  SEND(2),
  SEND_WITH_IMM(3),
  RDMA_READ(4),
  ATOMIC_CMP_AND_SWP(5),
  ATOMIC_FETCH_AND_ADD(6),
  LOCAL_INV(7),
  BIND_MW(8),
  SEND_WITH_INV(9),
  ATOMIC_WRITE(15);

  private final int value;

  IbvWrOpcode(int value) {
    this.value = value;
  }

  @Override
  public int value() {
    return value;
  }
}
