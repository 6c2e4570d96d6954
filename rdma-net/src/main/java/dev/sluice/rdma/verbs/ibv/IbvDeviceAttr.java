package dev.sluice.rdma.verbs.ibv;

import dev.sluice.rdma.verbs.ffi.CConstant;
import java.lang.foreign.MemorySegment;

/**
 * Limits and capabilities of a device: {@code struct ibv_device_attr} with on-demand paging from
 * {@code struct ibv_device_attr_ex}. The names are those of ibv_query_device(3). Immutable.
 */
public final class IbvDeviceAttr {
  private final MemorySegment extended;
  private final MemorySegment struct;

  IbvDeviceAttr(MemorySegment extended) {
    this.extended = IbvStructs.copy(extended);
    struct = IbvStructs.DEVICE_ATTR_EX.part(this.extended, "orig_attr");
  }

  /** Firmware version. */
  public String fwVer() {
    return IbvStructs.DEVICE_ATTR.part(struct, "fw_ver").getString(0);
  }

  public IbvAtomicCap atomicCap() {
    return CConstant.of(IbvAtomicCap.class, number("atomic_cap"));
  }

  /** Of {@link IbvOdpCaps}; 0 without on-demand paging. */
  public long odpGeneralCaps() {
    return IbvStructs.ODP_CAPS.getLong(odp(), "general_caps");
  }

  /** Of {@link IbvOdpTransportCaps}, for RC, UC or UD. */
  public int odpTransportCaps(IbvQpType type) {
    return IbvStructs.ODP_CAPS.getInt(
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
    return IbvStructs.DEVICE_ATTR_EX.getLong(extended, "completion_timestamp_mask");
  }

  /** Of the device's clock, kHz. */
  public long hcaCoreClock() {
    return IbvStructs.DEVICE_ATTR_EX.getLong(extended, "hca_core_clock");
  }

  /** Capabilities beyond 32 bits. */
  public long deviceCapFlagsEx() {
    return IbvStructs.DEVICE_ATTR_EX.getLong(extended, "device_cap_flags_ex");
  }

  public long nodeGuid() {
    return Long.reverseBytes(IbvStructs.DEVICE_ATTR.getLong(struct, "node_guid"));
  }

  public long sysImageGuid() {
    return Long.reverseBytes(IbvStructs.DEVICE_ATTR.getLong(struct, "sys_image_guid"));
  }

  /** Bytes. */
  public long maxMrSize() {
    return IbvStructs.DEVICE_ATTR.getLong(struct, "max_mr_size");
  }

  /** Supported page sizes, a bit each. */
  public long pageSizeCap() {
    return IbvStructs.DEVICE_ATTR.getLong(struct, "page_size_cap");
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
    return IbvStructs.DEVICE_ATTR_EX.part(extended, "odp_caps");
  }

  private int number(String member) {
    return IbvStructs.DEVICE_ATTR.getInt(struct, member);
  }
}
