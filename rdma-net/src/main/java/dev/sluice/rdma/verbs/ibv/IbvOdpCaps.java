package dev.sluice.rdma.verbs.ibv;

/** On-demand paging at all (ibv_query_device_ex(3)). Bits, to be combined by {@code |}. */
public final class IbvOdpCaps {
  public static final int SUPPORT = 1;
  public static final int SUPPORT_IMPLICIT = 1 << 1;

  private IbvOdpCaps() {}
}
