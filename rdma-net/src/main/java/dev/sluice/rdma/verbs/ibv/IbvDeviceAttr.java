package dev.sluice.rdma.verbs.ibv;

import dev.sluice.rdma.verbs.ffi.CStruct;
import dev.sluice.rdma.verbs.ffi.CValue;
import java.lang.foreign.MemorySegment;
import java.util.Map;

/**
 * Limits and capabilities of a device: {@code struct ibv_device_attr_ex}, of which an older kernel
 * or library fills in the first members and leaves zeros. Those that are asked for in code have
 * methods; all can be had by their names in C. Immutable.
 */
public final class IbvDeviceAttr {
  /** The structures in it. */
  private static final Map<String, CStruct> PARTS =
      Map.of(
          "orig_attr", IbvDeviceStructs.DEVICE_ATTR,
          "odp_caps", IbvDeviceStructs.ODP_CAPS,
          "tso_caps", IbvDeviceStructs.TSO_CAPS,
          "rss_caps", IbvDeviceStructs.RSS_CAPS,
          "packet_pacing_caps", IbvDeviceStructs.PACKET_PACING_CAPS,
          "tm_caps", IbvDeviceStructs.TM_CAPS,
          "cq_mod_caps", IbvDeviceStructs.CQ_MODERATION_CAPS);

  private final MemorySegment struct;

  IbvDeviceAttr(MemorySegment struct) {
    this.struct = IbvStructs.copy(struct);
  }

  /**
   * A number by its name in C (ibv_query_device_ex(3)), such as {@code hca_core_clock} or {@code
   * orig_attr.max_qp}; shorter ones zero-extended, GUIDs in network byte order.
   */
  public long get(String member) {
    int dot = member.indexOf('.');
    if (dot < 0) {
      return IbvDeviceStructs.DEVICE_ATTR_EX.getLong(struct, member);
    }
    String part = member.substring(0, dot);
    return PARTS
        .get(part)
        .getLong(IbvDeviceStructs.DEVICE_ATTR_EX.part(struct, part), member.substring(dot + 1));
  }

  /** Firmware version. */
  public String fwVer() {
    MemorySegment first = IbvDeviceStructs.DEVICE_ATTR_EX.part(struct, "orig_attr");
    return IbvDeviceStructs.DEVICE_ATTR.part(first, "fw_ver").getString(0);
  }

  public CValue<IbvAtomicCap> atomicCap() {
    return new CValue<>(IbvAtomicCap.class, number("atomic_cap"));
  }

  /** IEEE OUI. */
  public int vendorId() {
    return number("vendor_id");
  }

  public int vendorPartId() {
    return number("vendor_part_id");
  }

  public int maxQp() {
    return number("max_qp");
  }

  /** Work requests of one queue. */
  public int maxQpWr() {
    return number("max_qp_wr");
  }

  /** Completions of one CQ. */
  public int maxCqe() {
    return number("max_cqe");
  }

  /** READs and atomics that one QP serves at a time. */
  public int maxQpRdAtom() {
    return number("max_qp_rd_atom");
  }

  /** READs and atomics that one QP has under way. */
  public int maxQpInitRdAtom() {
    return number("max_qp_init_rd_atom");
  }

  /** Ports, numbered from 1. */
  public int physPortCnt() {
    return number("phys_port_cnt");
  }

  private int number(String member) {
    return (int) get("orig_attr." + member);
  }
}
