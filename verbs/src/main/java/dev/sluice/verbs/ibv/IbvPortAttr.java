// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.ibv;

import dev.sluice.verbs.VerbsException;
import dev.sluice.verbs.ffi.CConstant;
import dev.sluice.verbs.ffi.CValue;
import java.lang.foreign.MemorySegment;

/**
 * Attributes of a port: {@code struct ibv_port_attr} (ibv_query_port(3)). Frequently used members
 * have methods; {@link #get} reads any member by its C name. Immutable.
 */
public final class IbvPortAttr {
  /** Logical state of a port ({@code enum ibv_port_state}). */
  public enum State implements CConstant {
    NOP,
    DOWN,
    INIT,
    ARMED,
    ACTIVE,
    ACTIVE_DEFER
  }

  /** Properties of a port (ibv_query_port(3)). Bits, to be combined by {@code |}. */
  public interface Flags {
    /**
     * The port shares its LID with other ports, as virtual functions do. Packets from and to it
     * need a GRH; without a GRH they may go to another of these ports.
     */
    int GRH_REQUIRED = 1;
  }

  /** Capabilities of a port ({@code port_cap_flags}). Bits, to be combined by {@code |}. */
  public interface Caps {
    int SM = 1 << 1;
    int NOTICE_SUP = 1 << 2;
    int TRAP_SUP = 1 << 3;
    int OPT_IPD_SUP = 1 << 4;
    int AUTO_MIGR_SUP = 1 << 5;
    int SL_MAP_SUP = 1 << 6;
    int MKEY_NVRAM = 1 << 7;
    int PKEY_NVRAM = 1 << 8;
    int LED_INFO_SUP = 1 << 9;
    int SYS_IMAGE_GUID_SUP = 1 << 11;
    int PKEY_SW_EXT_PORT_TRAP_SUP = 1 << 12;
    int EXTENDED_SPEEDS_SUP = 1 << 14;
    int CAP_MASK2_SUP = 1 << 15;
    int CM_SUP = 1 << 16;
    int SNMP_TUNNEL_SUP = 1 << 17;
    int REINIT_SUP = 1 << 18;
    int DEVICE_MGMT_SUP = 1 << 19;
    int VENDOR_CLASS_SUP = 1 << 20;
    int DR_NOTICE_SUP = 1 << 21;
    int CAP_MASK_NOTICE_SUP = 1 << 22;
    int BOOT_MGMT_SUP = 1 << 23;
    int LINK_LATENCY_SUP = 1 << 24;
    int CLIENT_REG_SUP = 1 << 25;
    int IP_BASED_GIDS = 1 << 26;
  }

  /** Further capabilities of a port ({@code port_cap_flags2}). Bits, to be combined by |. */
  public interface Caps2 {
    int SET_NODE_DESC_SUP = 1;
    int INFO_EXT_SUP = 1 << 1;
    int VIRT_SUP = 1 << 2;
    int SWITCH_PORT_STATE_TABLE_SUP = 1 << 3;
    int LINK_WIDTH_2X_SUP = 1 << 4;
    int LINK_SPEED_HDR_SUP = 1 << 5;
    int LINK_SPEED_NDR_SUP = 1 << 10;
    int LINK_SPEED_XDR_SUP = 1 << 12;
  }

  /** Path MTUs ({@code enum ibv_mtu}). */
  public enum Mtu implements CConstant {
    MTU_256,
    MTU_512,
    MTU_1024,
    MTU_2048,
    MTU_4096;

    /** C counts from 1 here. */
    @Override
    public int value() {
      return ordinal() + 1;
    }

    public int bytes() {
      return 128 << value();
    }
  }

  /** Link layer of a port (ibv_query_port(3)). */
  public enum LinkLayer implements CConstant {
    UNSPECIFIED,
    INFINIBAND,
    ETHERNET
  }

  private final MemorySegment struct;

  IbvPortAttr(MemorySegment struct) {
    this.struct = IbvStructs.PORT_ATTR.copy(struct);
  }

  public CValue<State> state() {
    return new CValue<>(State.class, get("state"));
  }

  /** The state in words (ibv_port_state_str(3)). */
  public String stateText() throws VerbsException {
    return LibIbverbs.PORT_STATE_STR.callForString(get("state"));
  }

  public CValue<Mtu> maxMtu() {
    return new CValue<>(Mtu.class, get("max_mtu"));
  }

  /** Current MTU. A device may leave it at 0 for a port without a network device. */
  public CValue<Mtu> activeMtu() {
    return new CValue<>(Mtu.class, get("active_mtu"));
  }

  public CValue<LinkLayer> linkLayer() {
    return new CValue<>(LinkLayer.class, get("link_layer"));
  }

  public int gidTblLen() {
    return get("gid_tbl_len");
  }

  /** Maximum message size in bytes. */
  public long maxMsgSz() {
    return IbvStructs.PORT_ATTR.getLong(struct, "max_msg_sz");
  }

  public int pkeyTblLen() {
    return get("pkey_tbl_len");
  }

  /** Local identifier; 0 on Ethernet. */
  public int lid() {
    return get("lid");
  }

  /** Flags of {@link Flags}. */
  public int flags() {
    return get("flags");
  }

  /** Reads a number of up to 32 bits by its C name, such as {@code sm_lid}. */
  public int get(String member) {
    return IbvStructs.PORT_ATTR.getInt(struct, member);
  }
}
