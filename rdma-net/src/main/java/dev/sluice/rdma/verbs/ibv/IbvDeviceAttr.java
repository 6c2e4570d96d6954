package dev.sluice.rdma.verbs.ibv;

import dev.sluice.rdma.verbs.ffi.CValue;
import java.lang.foreign.MemorySegment;

/**
 * Limits and capabilities of a device: {@code struct ibv_device_attr_ex}, of which an older kernel
 * or library fills in the first members and leaves zeros. The names are those of
 * ibv_query_device_ex(3). Immutable.
 */
public final class IbvDeviceAttr {
  private final MemorySegment extended;
  private final MemorySegment struct;

  /**
   * Segmentation offload: {@code struct ibv_tso_caps}.
   *
   * @param maxTso bytes; 0 without it
   * @param supportedQpts queue pair types, bit n for the type of value n
   */
  public record TsoCaps(int maxTso, int supportedQpts) {}

  /**
   * Receive side scaling: {@code struct ibv_rss_caps}.
   *
   * @param supportedQpts queue pair types, bit n for the type of value n
   */
  public record RssCaps(
      int supportedQpts,
      int maxRwqIndirectionTables,
      int maxRwqIndirectionTableSize,
      long rxHashFieldsMask,
      int rxHashFunction) {}

  /**
   * Packet pacing: {@code struct ibv_packet_pacing_caps}.
   *
   * @param qpRateLimitMin kbit/s
   * @param qpRateLimitMax kbit/s; 0 without it
   * @param supportedQpts queue pair types, bit n for the type of value n
   */
  public record PacketPacingCaps(int qpRateLimitMin, int qpRateLimitMax, int supportedQpts) {}

  /** Tag matching: {@code struct ibv_tm_caps}. */
  public record TmCaps(int maxRndvHdrSize, int maxNumTags, int flags, int maxOps, int maxSge) {}

  /**
   * Moderation of completion events: {@code struct ibv_cq_moderation_caps}.
   *
   * @param maxCqPeriod microseconds
   */
  public record CqModerationCaps(int maxCqCount, int maxCqPeriod) {}

  IbvDeviceAttr(MemorySegment extended) {
    this.extended = IbvStructs.copy(extended);
    struct = IbvDeviceStructs.DEVICE_ATTR_EX.part(this.extended, "orig_attr");
  }

  /** Firmware version. */
  public String fwVer() {
    return IbvDeviceStructs.DEVICE_ATTR.part(struct, "fw_ver").getString(0);
  }

  public CValue<IbvAtomicCap> atomicCap() {
    return new CValue<>(IbvAtomicCap.class, number("atomic_cap"));
  }

  /** Of {@link IbvOdpCaps}; 0 without on-demand paging. */
  public long odpGeneralCaps() {
    return IbvDeviceStructs.ODP_CAPS.getLong(odp(), "general_caps");
  }

  /** Of {@link IbvOdpTransportCaps}, for RC, UC or UD. */
  public int odpTransportCaps(IbvQpType type) {
    return IbvDeviceStructs.ODP_CAPS.getInt(
        odp(),
        switch (type) {
          case RC -> "per_transport_caps.rc_odp_caps";
          case UC -> "per_transport_caps.uc_odp_caps";
          case UD -> "per_transport_caps.ud_odp_caps";
          default -> throw new IllegalArgumentException("no on-demand paging caps for " + type);
        });
  }

  /** Bits of a completion time stamp that count; 0 for none. */
  public long completionTimestampMask() {
    return IbvDeviceStructs.DEVICE_ATTR_EX.getLong(extended, "completion_timestamp_mask");
  }

  /** Of the device's clock, kHz. */
  public long hcaCoreClock() {
    return IbvDeviceStructs.DEVICE_ATTR_EX.getLong(extended, "hca_core_clock");
  }

  /** Capabilities beyond 32 bits. */
  public long deviceCapFlagsEx() {
    return IbvDeviceStructs.DEVICE_ATTR_EX.getLong(extended, "device_cap_flags_ex");
  }

  public TsoCaps tsoCaps() {
    MemorySegment caps = IbvDeviceStructs.DEVICE_ATTR_EX.part(extended, "tso_caps");
    return new TsoCaps(
        IbvDeviceStructs.TSO_CAPS.getInt(caps, "max_tso"),
        IbvDeviceStructs.TSO_CAPS.getInt(caps, "supported_qpts"));
  }

  public RssCaps rssCaps() {
    MemorySegment caps = IbvDeviceStructs.DEVICE_ATTR_EX.part(extended, "rss_caps");
    return new RssCaps(
        IbvDeviceStructs.RSS_CAPS.getInt(caps, "supported_qpts"),
        IbvDeviceStructs.RSS_CAPS.getInt(caps, "max_rwq_indirection_tables"),
        IbvDeviceStructs.RSS_CAPS.getInt(caps, "max_rwq_indirection_table_size"),
        IbvDeviceStructs.RSS_CAPS.getLong(caps, "rx_hash_fields_mask"),
        IbvDeviceStructs.RSS_CAPS.getInt(caps, "rx_hash_function"));
  }

  public int maxWqTypeRq() {
    return IbvDeviceStructs.DEVICE_ATTR_EX.getInt(extended, "max_wq_type_rq");
  }

  public PacketPacingCaps packetPacingCaps() {
    MemorySegment caps = IbvDeviceStructs.DEVICE_ATTR_EX.part(extended, "packet_pacing_caps");
    return new PacketPacingCaps(
        IbvDeviceStructs.PACKET_PACING_CAPS.getInt(caps, "qp_rate_limit_min"),
        IbvDeviceStructs.PACKET_PACING_CAPS.getInt(caps, "qp_rate_limit_max"),
        IbvDeviceStructs.PACKET_PACING_CAPS.getInt(caps, "supported_qpts"));
  }

  /** Offloads of raw packet queue pairs, a bit each. */
  public int rawPacketCaps() {
    return IbvDeviceStructs.DEVICE_ATTR_EX.getInt(extended, "raw_packet_caps");
  }

  public TmCaps tmCaps() {
    MemorySegment caps = IbvDeviceStructs.DEVICE_ATTR_EX.part(extended, "tm_caps");
    return new TmCaps(
        IbvDeviceStructs.TM_CAPS.getInt(caps, "max_rndv_hdr_size"),
        IbvDeviceStructs.TM_CAPS.getInt(caps, "max_num_tags"),
        IbvDeviceStructs.TM_CAPS.getInt(caps, "flags"),
        IbvDeviceStructs.TM_CAPS.getInt(caps, "max_ops"),
        IbvDeviceStructs.TM_CAPS.getInt(caps, "max_sge"));
  }

  public CqModerationCaps cqModCaps() {
    MemorySegment caps = IbvDeviceStructs.DEVICE_ATTR_EX.part(extended, "cq_mod_caps");
    return new CqModerationCaps(
        IbvDeviceStructs.CQ_MODERATION_CAPS.getInt(caps, "max_cq_count"),
        IbvDeviceStructs.CQ_MODERATION_CAPS.getInt(caps, "max_cq_period"));
  }

  /** Bytes of device memory; 0 for none. */
  public long maxDmSize() {
    return IbvDeviceStructs.DEVICE_ATTR_EX.getLong(extended, "max_dm_size");
  }

  /** Of {@link IbvOdpTransportCaps}, for XRC. */
  public int xrcOdpCaps() {
    return IbvDeviceStructs.DEVICE_ATTR_EX.getInt(extended, "xrc_odp_caps");
  }

  public long nodeGuid() {
    return Long.reverseBytes(IbvDeviceStructs.DEVICE_ATTR.getLong(struct, "node_guid"));
  }

  public long sysImageGuid() {
    return Long.reverseBytes(IbvDeviceStructs.DEVICE_ATTR.getLong(struct, "sys_image_guid"));
  }

  /** Bytes. */
  public long maxMrSize() {
    return IbvDeviceStructs.DEVICE_ATTR.getLong(struct, "max_mr_size");
  }

  /** Supported page sizes, a bit each. */
  public long pageSizeCap() {
    return IbvDeviceStructs.DEVICE_ATTR.getLong(struct, "page_size_cap");
  }

  /** IEEE OUI. */
  public int vendorId() {
    return number("vendor_id");
  }

  public int vendorPartId() {
    return number("vendor_part_id");
  }

  public int hwVer() {
    return number("hw_ver");
  }

  public int maxQp() {
    return number("max_qp");
  }

  /** Work requests of one queue. */
  public int maxQpWr() {
    return number("max_qp_wr");
  }

  /** Of {@link IbvDeviceCaps}. */
  public int deviceCapFlags() {
    return number("device_cap_flags");
  }

  /** Scatter/gather entries of a work request. */
  public int maxSge() {
    return number("max_sge");
  }

  /** Scatter/gather entries of a READ. */
  public int maxSgeRd() {
    return number("max_sge_rd");
  }

  public int maxCq() {
    return number("max_cq");
  }

  /** Completions of one CQ. */
  public int maxCqe() {
    return number("max_cqe");
  }

  public int maxMr() {
    return number("max_mr");
  }

  public int maxPd() {
    return number("max_pd");
  }

  /** READs and atomics that one QP serves at a time. */
  public int maxQpRdAtom() {
    return number("max_qp_rd_atom");
  }

  public int maxEeRdAtom() {
    return number("max_ee_rd_atom");
  }

  /** READs and atomics that the device serves at a time. */
  public int maxResRdAtom() {
    return number("max_res_rd_atom");
  }

  /** READs and atomics that one QP has under way. */
  public int maxQpInitRdAtom() {
    return number("max_qp_init_rd_atom");
  }

  public int maxEeInitRdAtom() {
    return number("max_ee_init_rd_atom");
  }

  public int maxEe() {
    return number("max_ee");
  }

  public int maxRdd() {
    return number("max_rdd");
  }

  public int maxMw() {
    return number("max_mw");
  }

  public int maxRawIpv6Qp() {
    return number("max_raw_ipv6_qp");
  }

  public int maxRawEthyQp() {
    return number("max_raw_ethy_qp");
  }

  public int maxMcastGrp() {
    return number("max_mcast_grp");
  }

  public int maxMcastQpAttach() {
    return number("max_mcast_qp_attach");
  }

  public int maxTotalMcastQpAttach() {
    return number("max_total_mcast_qp_attach");
  }

  public int maxAh() {
    return number("max_ah");
  }

  public int maxFmr() {
    return number("max_fmr");
  }

  public int maxMapPerFmr() {
    return number("max_map_per_fmr");
  }

  public int maxSrq() {
    return number("max_srq");
  }

  public int maxSrqWr() {
    return number("max_srq_wr");
  }

  public int maxSrqSge() {
    return number("max_srq_sge");
  }

  public int maxPkeys() {
    return number("max_pkeys");
  }

  /** 4.096 us x 2^n. */
  public int localCaAckDelay() {
    return number("local_ca_ack_delay");
  }

  /** Ports, numbered from 1. */
  public int physPortCnt() {
    return number("phys_port_cnt");
  }

  private MemorySegment odp() {
    return IbvDeviceStructs.DEVICE_ATTR_EX.part(extended, "odp_caps");
  }

  private int number(String member) {
    return IbvDeviceStructs.DEVICE_ATTR.getInt(struct, member);
  }
}
