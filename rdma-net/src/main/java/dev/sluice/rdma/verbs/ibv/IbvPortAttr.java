package dev.sluice.rdma.verbs.ibv;

import dev.sluice.rdma.VerbsException;
import dev.sluice.rdma.verbs.ffi.CString;
import dev.sluice.rdma.verbs.ffi.CValue;
import java.lang.foreign.MemorySegment;

/**
 * Attributes of a port: {@code struct ibv_port_attr}. The names are those of ibv_query_port(3).
 * Immutable.
 */
public final class IbvPortAttr {
  private final MemorySegment struct;

  IbvPortAttr(MemorySegment struct) {
    this.struct = IbvStructs.copy(struct);
  }

  public CValue<IbvPortState> state() {
    return new CValue<>(IbvPortState.class, number("state"));
  }

  /** The state in words (ibv_port_state_str(3)). */
  public String stateText() throws VerbsException {
    return CString.read(LibIbverbs.PORT_STATE_STR.callForPointer(number("state")));
  }

  public CValue<IbvMtu> maxMtu() {
    return new CValue<>(IbvMtu.class, number("max_mtu"));
  }

  /** A device may leave it at 0 for a port without a network device. */
  public CValue<IbvMtu> activeMtu() {
    return new CValue<>(IbvMtu.class, number("active_mtu"));
  }

  public CValue<IbvLinkLayer> linkLayer() {
    return new CValue<>(IbvLinkLayer.class, number("link_layer"));
  }

  public int gidTblLen() {
    return number("gid_tbl_len");
  }

  /** Of {@link IbvPortCaps}. */
  public int portCapFlags() {
    return number("port_cap_flags");
  }

  /** Bytes. */
  public long maxMsgSz() {
    return IbvDeviceStructs.PORT_ATTR.getLong(struct, "max_msg_sz");
  }

  public int badPkeyCntr() {
    return number("bad_pkey_cntr");
  }

  public int qkeyViolCntr() {
    return number("qkey_viol_cntr");
  }

  public int pkeyTblLen() {
    return number("pkey_tbl_len");
  }

  /** Local identifier; 0 on Ethernet. */
  public int lid() {
    return number("lid");
  }

  public int smLid() {
    return number("sm_lid");
  }

  public int lmc() {
    return number("lmc");
  }

  public int maxVlNum() {
    return number("max_vl_num");
  }

  public int smSl() {
    return number("sm_sl");
  }

  public int subnetTimeout() {
    return number("subnet_timeout");
  }

  public int initTypeReply() {
    return number("init_type_reply");
  }

  /** 1: 1X, 2: 4X, 4: 8X, 8: 12X, 16: 2X. */
  public int activeWidth() {
    return number("active_width");
  }

  /** InfiniBand speed code of a lane. */
  public int activeSpeed() {
    return number("active_speed");
  }

  public int physState() {
    return number("phys_state");
  }

  /** Of {@link IbvPortFlags}. */
  public int flags() {
    return number("flags");
  }

  public int portCapFlags2() {
    return number("port_cap_flags2");
  }

  private int number(String member) {
    return IbvDeviceStructs.PORT_ATTR.getInt(struct, member);
  }
}
