package dev.sluice.rdma.verbs.ibv;

/** How advice is followed (ibv_advise_mr(3)). Bits, to be combined by {@code |}. */
public final class IbvAdviseMrFlags {
  /** Before the call returns. */
  public static final int FLUSH = 1;

  private IbvAdviseMrFlags() {}
}
