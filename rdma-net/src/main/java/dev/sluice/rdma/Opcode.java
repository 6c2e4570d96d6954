package dev.sluice.rdma;

/** What a work request asks for (ibv_post_send(3)), and what a work completion reports. */
public enum Opcode {
  SEND,
  SEND_WITH_IMM,
  RDMA_WRITE,
  RDMA_WRITE_WITH_IMM,
  RDMA_READ,
  ATOMIC_CMP_AND_SWP,
  ATOMIC_FETCH_AND_ADD,
  /** A receive completion of a SEND, with or without immediate data. */
  RECV,
  /** A receive completion of an RDMA WRITE with immediate data. */
  RECV_RDMA_WITH_IMM
}
