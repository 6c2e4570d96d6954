package dev.sluice.rdma.verbs.ibv;

/** Which attributes ibv_modify_srq(3) sets. Bits, to be combined by {@code |}. */
public final class IbvSrqAttrMask {
  public static final int MAX_WR = 1;
  public static final int LIMIT = 1 << 1;

  private IbvSrqAttrMask() {}
}
