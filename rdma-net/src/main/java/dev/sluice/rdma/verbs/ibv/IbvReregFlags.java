package dev.sluice.rdma.verbs.ibv;

/** What ibv_rereg_mr(3) changes. Bits, to be combined by {@code |}. */
public final class IbvReregFlags {
  public static final int CHANGE_TRANSLATION = 1;
  public static final int CHANGE_PD = 1 << 1;
  public static final int CHANGE_ACCESS = 1 << 2;

  private IbvReregFlags() {}
}
