package dev.sluice.rdma.verbs.ibv;

/** On-demand paging by operation (ibv_query_device_ex(3)). Bits, to be combined by {@code |}. */
public final class IbvOdpTransportCaps {
  public static final int SUPPORT_SEND = 1;
  public static final int SUPPORT_RECV = 1 << 1;
  public static final int SUPPORT_WRITE = 1 << 2;
  public static final int SUPPORT_READ = 1 << 3;
  public static final int SUPPORT_ATOMIC = 1 << 4;
  public static final int SUPPORT_SRQ_RECV = 1 << 5;

  private IbvOdpTransportCaps() {}
}
