package dev.sluice.rdma.tools;

import dev.sluice.rdma.verbs.ffi.CValue;
import dev.sluice.rdma.verbs.ibv.IbvContext;
import dev.sluice.rdma.verbs.ibv.IbvGidEntry;
import dev.sluice.rdma.verbs.ibv.IbvLinkLayer;
import dev.sluice.rdma.verbs.ibv.IbvMtu;
import dev.sluice.rdma.verbs.ibv.IbvPortAttr;
import java.io.IOException;
import java.io.PrintWriter;

/** A port's attributes and GIDs in the form of ibv_devinfo. */
record PortInfo(IbvContext context, PrintWriter out) {
  private static final String INVALID = "invalid value";

  void print(int port, boolean verbose) throws IOException {
    IbvPortAttr attr = context.queryPort(port);
    out.printf("\t\tport:\t%d%n", port);
    out.printf("\t\t\tstate:\t\t\t%s (%d)%n", text(attr), attr.state().number());
    printMtu("max_mtu", attr.maxMtu());
    printMtu("active_mtu", attr.activeMtu());
    out.printf("\t\t\tsm_lid:\t\t\t%d%n", attr.get("sm_lid"));
    out.printf("\t\t\tport_lid:\t\t%d%n", attr.lid());
    out.printf("\t\t\tport_lmc:\t\t0x%02x%n", attr.get("lmc"));
    out.printf("\t\t\tlink_layer:\t\t%s%n", text(attr.linkLayer()));
    if (verbose) {
      printDetails(attr);
      printGids(port);
    }
  }

  private void printMtu(String name, CValue<IbvMtu> mtu) {
    String bytes = mtu.known().map(IbvMtu::bytes).map(String::valueOf).orElse("invalid MTU");
    out.printf("\t\t\t%s:\t\t%s (%d)%n", name, bytes, mtu.number());
  }

  private static String text(IbvPortAttr attr) {
    return attr.state().known().map(state -> "PORT_" + state).orElse("invalid state");
  }

  private void printDetails(IbvPortAttr attr) {
    out.printf("\t\t\tmax_msg_sz:\t\t0x%x%n", attr.maxMsgSz());
    out.printf("\t\t\tport_cap_flags:\t\t0x%08x%n", attr.get("port_cap_flags"));
    out.printf("\t\t\tport_cap_flags2:\t0x%04x%n", attr.get("port_cap_flags2"));
    out.printf("\t\t\tmax_vl_num:\t\t%s (%d)%n", virtualLanes(attr), attr.get("max_vl_num"));
    out.printf("\t\t\tbad_pkey_cntr:\t\t0x%x%n", attr.get("bad_pkey_cntr"));
    out.printf("\t\t\tqkey_viol_cntr:\t\t0x%x%n", attr.get("qkey_viol_cntr"));
    out.printf("\t\t\tsm_sl:\t\t\t%d%n", attr.get("sm_sl"));
    out.printf("\t\t\tpkey_tbl_len:\t\t%d%n", attr.pkeyTblLen());
    out.printf("\t\t\tgid_tbl_len:\t\t%d%n", attr.gidTblLen());
    out.printf("\t\t\tsubnet_timeout:\t\t%d%n", attr.get("subnet_timeout"));
    out.printf("\t\t\tinit_type_reply:\t%d%n", attr.get("init_type_reply"));
    out.printf("\t\t\tactive_width:\t\t%sX (%d)%n", width(attr), attr.get("active_width"));
    out.printf("\t\t\tactive_speed:\t\t%s (%d)%n", speed(attr), attr.get("active_speed"));
    out.printf("\t\t\tphys_state:\t\t%s (%d)%n", physicalState(attr), attr.get("phys_state"));
  }

  private void printGids(int port) throws IOException {
    for (IbvGidEntry entry : context.queryGidTable(Gids.capacity(context))) {
      if (entry.port() == port) {
        out.printf("\t\t\tGID[%3d]:\t\t%s%n", entry.index(), text(entry));
      }
    }
  }

  private static String text(IbvGidEntry entry) {
    return switch (entry.type().known().orElse(null)) {
      case ROCE_V2 -> Gids.asAddress(entry.gid()) + ", RoCE v2";
      case ROCE_V1 -> Gids.inFull(entry.gid()) + ", RoCE v1";
      case IB -> Gids.inFull(entry.gid());
      case null -> Gids.inFull(entry.gid()) + ", type " + entry.type();
    };
  }

  static String text(CValue<IbvLinkLayer> layer) {
    return switch (layer.known().orElse(null)) {
      case UNSPECIFIED -> "Unspecified";
      case INFINIBAND -> "InfiniBand";
      case ETHERNET -> "Ethernet";
      case null -> "Unknown (" + layer + ")";
    };
  }

  private static String virtualLanes(IbvPortAttr attr) {
    return switch (attr.get("max_vl_num")) {
      case 1 -> "1";
      case 2 -> "2";
      case 3 -> "4";
      case 4 -> "8";
      case 5 -> "15";
      default -> INVALID;
    };
  }

  private static String width(IbvPortAttr attr) {
    return switch (attr.get("active_width")) {
      case 1 -> "1";
      case 2 -> "4";
      case 4 -> "8";
      case 8 -> "12";
      case 16 -> "2";
      default -> "invalid width";
    };
  }

  private static String speed(IbvPortAttr attr) {
    return switch (attr.get("active_speed")) {
      case 1 -> "2.5 Gbps";
      case 2 -> "5.0 Gbps";
      case 4, 8 -> "10.0 Gbps";
      case 16 -> "14.0 Gbps";
      case 32 -> "25.0 Gbps";
      case 64 -> "50.0 Gbps";
      case 128 -> "100.0 Gbps";
      default -> "invalid speed";
    };
  }

  private static String physicalState(IbvPortAttr attr) {
    return switch (attr.get("phys_state")) {
      case 1 -> "SLEEP";
      case 2 -> "POLLING";
      case 3 -> "DISABLED";
      case 4 -> "PORT_CONFIGURATION TRAINNING"; // as ibv_devinfo spells it
      case 5 -> "LINK_UP";
      case 6 -> "LINK_ERROR_RECOVERY";
      case 7 -> "PHY TEST";
      default -> "invalid physical state";
    };
  }
}
