package dev.sluice.rdma.verbs.cm;

import dev.sluice.rdma.verbs.ffi.CConstant;

/** What an id's port numbers stand for (rdma_create_id(3)). */
public enum RdmaPortSpace implements CConstant {
  /** Datagrams that work with IP over InfiniBand. */
  IPOIB(0x0002),
  /** Reliable connections. */
  TCP(0x0106),
  /** Unreliable datagrams. */
  UDP(0x0111),
  /** Any InfiniBand service. */
  IB(0x013F);

  private final int value;

  RdmaPortSpace(int value) {
    this.value = value;
  }

  @Override
  public int value() {
    return value;
  }
}
