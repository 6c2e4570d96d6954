package dev.sluice.rdma.verbs.ibv;

/** What else a work completion holds (ibv_poll_cq(3)). Bits, to be combined by {@code |}. */
public final class IbvWcFlags {
  public static final int GRH = 1;
  public static final int WITH_IMM = 1 << 1;
  public static final int IP_CSUM_OK = 1 << 2;
  public static final int WITH_INV = 1 << 3;

  private IbvWcFlags() {}
}
