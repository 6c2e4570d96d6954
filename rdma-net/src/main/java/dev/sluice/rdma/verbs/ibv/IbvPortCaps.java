package dev.sluice.rdma.verbs.ibv;

/** Capabilities of a port (ibv_query_port(3)). Bits, to be combined by {@code |}. */
public final class IbvPortCaps {
  public static final int SM = 1 << 1;
  public static final int NOTICE_SUP = 1 << 2;
  public static final int TRAP_SUP = 1 << 3;
  public static final int OPT_IPD_SUP = 1 << 4;
  public static final int AUTO_MIGR_SUP = 1 << 5;
  public static final int SL_MAP_SUP = 1 << 6;
  public static final int MKEY_NVRAM = 1 << 7;
  public static final int PKEY_NVRAM = 1 << 8;
  public static final int LED_INFO_SUP = 1 << 9;
  public static final int SYS_IMAGE_GUID_SUP = 1 << 11;
  public static final int PKEY_SW_EXT_PORT_TRAP_SUP = 1 << 12;
  public static final int EXTENDED_SPEEDS_SUP = 1 << 14;
  public static final int CAP_MASK2_SUP = 1 << 15;
  public static final int CM_SUP = 1 << 16;
  public static final int SNMP_TUNNEL_SUP = 1 << 17;
  public static final int REINIT_SUP = 1 << 18;
  public static final int DEVICE_MGMT_SUP = 1 << 19;
  public static final int VENDOR_CLASS_SUP = 1 << 20;
  public static final int DR_NOTICE_SUP = 1 << 21;
  public static final int CAP_MASK_NOTICE_SUP = 1 << 22;
  public static final int BOOT_MGMT_SUP = 1 << 23;
  public static final int LINK_LATENCY_SUP = 1 << 24;
  public static final int CLIENT_REG_SUP = 1 << 25;
  public static final int IP_BASED_GIDS = 1 << 26;

  private IbvPortCaps() {}
}
