package dev.sluice.rdma.verbs.ibv;

import dev.sluice.rdma.VerbsException;
import dev.sluice.rdma.verbs.ffi.CString;
import dev.sluice.rdma.verbs.ffi.CValue;
import java.lang.foreign.MemorySegment;

/**
 * Attributes of a port: {@code struct ibv_port_attr} (ibv_query_port(3)). Those that are asked for
 * in code have methods; all can be had by their names in C. Immutable.
 */
public final class IbvPortAttr {
  private final MemorySegment struct;

  IbvPortAttr(MemorySegment struct) {
    this.struct = IbvStructs.copy(struct);
  }

  public CValue<IbvPortState> state() {
    return new CValue<>(IbvPortState.class, get("state"));
  }

  /** The state in words (ibv_port_state_str(3)). */
  public String stateText() throws VerbsException {
    return CString.read(LibIbverbs.PORT_STATE_STR.callForPointer(get("state")));
  }

  public CValue<IbvMtu> maxMtu() {
    return new CValue<>(IbvMtu.class, get("max_mtu"));
  }

  /** A device may leave it at 0 for a port without a network device. */
  public CValue<IbvMtu> activeMtu() {
    return new CValue<>(IbvMtu.class, get("active_mtu"));
  }

  public CValue<IbvLinkLayer> linkLayer() {
    return new CValue<>(IbvLinkLayer.class, get("link_layer"));
  }

  public int gidTblLen() {
    return get("gid_tbl_len");
  }

  /** Bytes. */
  public long maxMsgSz() {
    return IbvDeviceStructs.PORT_ATTR.getLong(struct, "max_msg_sz");
  }

  public int pkeyTblLen() {
    return get("pkey_tbl_len");
  }

  /** Local identifier; 0 on Ethernet. */
  public int lid() {
    return get("lid");
  }

  /** Of {@link IbvPortFlags}. */
  public int flags() {
    return get("flags");
  }

  /** A number of up to 32 bits by its name in C, such as {@code sm_lid}. */
  public int get(String member) {
    return IbvDeviceStructs.PORT_ATTR.getInt(struct, member);
  }
}
