package dev.sluice.rdma.verbs.ibv;

import dev.sluice.rdma.verbs.ffi.CConstant;

/** What a work completion completes (ibv_poll_cq(3)). */
public enum IbvWcOpcode implements CConstant {
  SEND(0),
  RDMA_WRITE(1),
  RDMA_READ(2),
  COMP_SWAP(3),
  FETCH_ADD(4),
  BIND_MW(5),
  LOCAL_INV(6),
  ATOMIC_WRITE(9),
  RECV(128),
  RECV_RDMA_WITH_IMM(129);

  private final int value;

  IbvWcOpcode(int value) {
    this.value = value;
  }

  @Override
  public int value() {
    return value;
  }
}
