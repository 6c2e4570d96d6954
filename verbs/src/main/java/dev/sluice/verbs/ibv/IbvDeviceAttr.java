// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.ibv;

import dev.sluice.verbs.ffi.CConstant;
import dev.sluice.verbs.ffi.CString;
import dev.sluice.verbs.ffi.CValue;
import java.lang.foreign.MemorySegment;

/**
 * Limits and capabilities of a device: {@code struct ibv_device_attr_ex}. Older kernels and
 * libraries fill in the first members and leave the others zero. Frequently used members have
 * methods; {@link #get} reads any member by its C name. Immutable.
 */
public final class IbvDeviceAttr {
  /** On-demand paging by operation (ibv_query_device_ex(3)). Bits, to be combined by {@code |}. */
  public interface OdpTransportCaps {
    int SUPPORT_SEND = 1;
    int SUPPORT_RECV = 1 << 1;
    int SUPPORT_WRITE = 1 << 2;
    int SUPPORT_READ = 1 << 3;
    int SUPPORT_ATOMIC = 1 << 4;
    int SUPPORT_SRQ_RECV = 1 << 5;
  }

  /** On-demand paging in general (ibv_query_device_ex(3)). Bits, to be combined by {@code |}. */
  public interface OdpCaps {
    int SUPPORT = 1;
    int SUPPORT_IMPLICIT = 1 << 1;
  }

  /** Capabilities of a device (ibv_query_device(3)). Bits, to be combined by {@code |}. */
  public interface Caps {
    int RESIZE_MAX_WR = 1;
    int BAD_PKEY_CNTR = 1 << 1;
    int BAD_QKEY_CNTR = 1 << 2;
    int RAW_MULTI = 1 << 3;
    int AUTO_PATH_MIG = 1 << 4;
    int CHANGE_PHY_PORT = 1 << 5;
    int UD_AV_PORT_ENFORCE = 1 << 6;
    int CURR_QP_STATE_MOD = 1 << 7;
    int SHUTDOWN_PORT = 1 << 8;
    int INIT_TYPE = 1 << 9;
    int PORT_ACTIVE_EVENT = 1 << 10;
    int SYS_IMAGE_GUID = 1 << 11;
    int RC_RNR_NAK_GEN = 1 << 12;
    int SRQ_RESIZE = 1 << 13;
    int N_NOTIFY_CQ = 1 << 14;
    int MEM_WINDOW = 1 << 17;
    int UD_IP_CSUM = 1 << 18;
    int XRC = 1 << 20;
    int MEM_MGT_EXTENSIONS = 1 << 21;
    int MEM_WINDOW_TYPE_2A = 1 << 23;
    int MEM_WINDOW_TYPE_2B = 1 << 24;
    int RC_IP_CSUM = 1 << 25;
    int RAW_IP_CSUM = 1 << 26;
    int MANAGED_FLOW_STEERING = 1 << 29;
  }

  /** Scope in which atomics are atomic ({@code enum ibv_atomic_cap}). */
  public enum AtomicCap implements CConstant {
    NONE,
    HCA,
    GLOB
  }

  private final MemorySegment struct;

  IbvDeviceAttr(MemorySegment struct) {
    this.struct = IbvStructs.DEVICE_ATTR_EX.copy(struct);
  }

  /**
   * Reads a number by its C name (ibv_query_device_ex(3)), such as {@code hca_core_clock} or {@code
   * orig_attr.max_qp}. Short members are zero-extended; GUIDs are in network byte order.
   */
  public long get(String member) {
    return IbvStructs.DEVICE_ATTR_EX.getLong(struct, member);
  }

  /** Firmware version. */
  public String fwVer() {
    return CString.read(IbvStructs.DEVICE_ATTR_EX.part(struct, "orig_attr.fw_ver"));
  }

  public CValue<AtomicCap> atomicCap() {
    return new CValue<>(AtomicCap.class, number("atomic_cap"));
  }

  /** The vendor's IEEE OUI. */
  public int vendorId() {
    return number("vendor_id");
  }

  public int vendorPartId() {
    return number("vendor_part_id");
  }

  public int maxQp() {
    return number("max_qp");
  }

  /** Maximum number of work requests in one queue. */
  public int maxQpWr() {
    return number("max_qp_wr");
  }

  /** Maximum number of completions in one CQ. */
  public int maxCqe() {
    return number("max_cqe");
  }

  /** Maximum number of READs and atomics that one QP serves at a time. */
  public int maxQpRdAtom() {
    return number("max_qp_rd_atom");
  }

  /** Maximum number of READs and atomics that one QP has in flight. */
  public int maxQpInitRdAtom() {
    return number("max_qp_init_rd_atom");
  }

  /** Number of ports; ports are numbered from 1. */
  public int physPortCnt() {
    return number("phys_port_cnt");
  }

  private int number(String member) {
    return (int) get("orig_attr." + member);
  }
}
