package dev.sluice.rdma.verbs.ibv;

/** Flags of a work request (ibv_post_send(3)). Bits, to be combined by {@code |}. */
public final class IbvSendFlags {
  public static final int FENCE = 1;
  public static final int SIGNALED = 1 << 1;
  public static final int SOLICITED = 1 << 2;
  public static final int INLINE = 1 << 3;
  public static final int IP_CSUM = 1 << 4;

  private IbvSendFlags() {}
}
