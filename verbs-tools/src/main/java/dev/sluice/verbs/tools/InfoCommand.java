// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.tools;

import dev.sluice.verbs.ffi.CValue;
import dev.sluice.verbs.ibv.IbvContext;
import dev.sluice.verbs.ibv.IbvDevice;
import dev.sluice.verbs.ibv.IbvDeviceList;
import dev.sluice.verbs.ibv.IbvGidEntry;
import dev.sluice.verbs.ibv.IbvPortAttr;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/**
 * The command {@code bin/verbs info}: prints devices and ports in the form of ibv_devinfo, on the
 * main thread. The tables map codes of ibv_query_port(3) to that program's texts.
 */
@Command(name = "info", description = "Prints the attributes of devices and their ports.")
final class InfoCommand extends ToolCommand {
  private static final Map<Integer, String> VIRTUAL_LANES =
      Map.of(1, "1", 2, "2", 3, "4", 4, "8", 5, "15");
  private static final Map<Integer, String> WIDTHS =
      Map.of(1, "1", 2, "4", 4, "8", 8, "12", 16, "2");
  private static final Map<Integer, String> SPEEDS =
      Map.of(
          1, "2.5 Gbps",
          2, "5.0 Gbps",
          4, "10.0 Gbps",
          8, "10.0 Gbps",
          16, "14.0 Gbps",
          32, "25.0 Gbps",
          64, "50.0 Gbps",
          128, "100.0 Gbps");
  private static final Map<Integer, String> PHYSICAL_STATES =
      Map.of(
          1, "SLEEP",
          2, "POLLING",
          3, "DISABLED",
          4, "PORT_CONFIGURATION TRAINNING", // spelling of ibv_devinfo
          5, "LINK_UP",
          6, "LINK_ERROR_RECOVERY",
          7, "PHY TEST");

  @Parameters(
      arity = "0..1",
      paramLabel = "DEVICE",
      description = "RDMA device (default: all of them)")
  private @Nullable String device;

  @Option(
      names = {"-i", "--ib-port"},
      paramLabel = "PORT",
      description = "Port, from 1 (default: all ports)")
  private @Nullable Integer port;

  @Option(
      names = {"-v", "--verbose"},
      description = "Print all attributes, and the GIDs")
  private boolean verbose;

  @Override
  void run() throws IOException {
    try (IbvDeviceList list = IbvDeviceList.get()) {
      for (IbvDevice chosen : chosen(list)) {
        try (IbvContext context = chosen.open()) {
          print(context);
        }
      }
    }
  }

  private List<IbvDevice> chosen(IbvDeviceList list) throws IOException {
    List<IbvDevice> chosen =
        list.devices().stream().filter(d -> device == null || d.name().equals(device)).toList();
    if (chosen.isEmpty()) {
      throw new IOException("there is no RDMA device" + (device == null ? "" : " " + device));
    }
    return chosen;
  }

  private void print(IbvContext context) throws IOException {
    int ports = context.queryDevice().physPortCnt();
    if (port != null && (port < 1 || port > ports)) {
      throw new IOException(context.device() + " has no port " + port + ": ports 1 to " + ports);
    }
    new DeviceInfo(context, out()).print(verbose);
    for (int number = 1; number <= ports; number++) {
      if (port == null || port == number) {
        print(context, number);
      }
    }
    out().println();
  }

  private void print(IbvContext context, int number) throws IOException {
    IbvPortAttr attr = context.queryPort(number);
    out().printf("\t\tport:\t%d%n", number);
    out().printf("\t\t\tstate:\t\t\t%s (%d)%n", text(attr), attr.state().number());
    printMtu("max_mtu", attr.maxMtu());
    printMtu("active_mtu", attr.activeMtu());
    out().printf("\t\t\tsm_lid:\t\t\t%d%n", attr.get("sm_lid"));
    out().printf("\t\t\tport_lid:\t\t%d%n", attr.lid());
    out().printf("\t\t\tport_lmc:\t\t0x%02x%n", attr.get("lmc"));
    out().printf("\t\t\tlink_layer:\t\t%s%n", text(attr.linkLayer()));
    if (verbose) {
      printDetails(attr);
      printGids(context, number);
    }
  }

  private void printMtu(String name, CValue<IbvPortAttr.Mtu> mtu) {
    String bytes =
        mtu.known().map(IbvPortAttr.Mtu::bytes).map(String::valueOf).orElse("invalid MTU");
    out().printf("\t\t\t%s:\t\t%s (%d)%n", name, bytes, mtu.number());
  }

  private static String text(IbvPortAttr attr) {
    return attr.state().known().map(state -> "PORT_" + state).orElse("invalid state");
  }

  private void printDetails(IbvPortAttr attr) {
    out().printf("\t\t\tmax_msg_sz:\t\t0x%x%n", attr.maxMsgSz());
    out().printf("\t\t\tport_cap_flags:\t\t0x%08x%n", attr.get("port_cap_flags"));
    out().printf("\t\t\tport_cap_flags2:\t0x%04x%n", attr.get("port_cap_flags2"));
    print("max_vl_num:\t\t%s", attr.get("max_vl_num"), VIRTUAL_LANES, "invalid value");
    out().printf("\t\t\tbad_pkey_cntr:\t\t0x%x%n", attr.get("bad_pkey_cntr"));
    out().printf("\t\t\tqkey_viol_cntr:\t\t0x%x%n", attr.get("qkey_viol_cntr"));
    out().printf("\t\t\tsm_sl:\t\t\t%d%n", attr.get("sm_sl"));
    out().printf("\t\t\tpkey_tbl_len:\t\t%d%n", attr.pkeyTblLen());
    out().printf("\t\t\tgid_tbl_len:\t\t%d%n", attr.gidTblLen());
    out().printf("\t\t\tsubnet_timeout:\t\t%d%n", attr.get("subnet_timeout"));
    out().printf("\t\t\tinit_type_reply:\t%d%n", attr.get("init_type_reply"));
    print("active_width:\t\t%sX", attr.get("active_width"), WIDTHS, "invalid width");
    print("active_speed:\t\t%s", attr.get("active_speed"), SPEEDS, "invalid speed");
    print("phys_state:\t\t%s", attr.get("phys_state"), PHYSICAL_STATES, "invalid physical state");
  }

  private void print(String format, int value, Map<Integer, String> texts, String invalid) {
    out().printf("\t\t\t" + format + " (%d)%n", texts.getOrDefault(value, invalid), value);
  }

  private void printGids(IbvContext context, int number) throws IOException {
    for (IbvGidEntry entry : LocalPort.gids(context, number)) {
      out().printf("\t\t\tGID[%3d]:\t\t%s%n", entry.index(), text(entry));
    }
  }

  private static String text(IbvGidEntry entry) {
    return switch (entry.type().known().orElse(null)) {
      case ROCE_V2 -> QpAddress.asAddress(entry.gid()) + ", RoCE v2";
      case ROCE_V1 -> QpAddress.inFull(entry.gid()) + ", RoCE v1";
      case IB -> QpAddress.inFull(entry.gid());
      case null -> QpAddress.inFull(entry.gid()) + ", type " + entry.type();
    };
  }

  private static String text(CValue<IbvPortAttr.LinkLayer> layer) {
    return switch (layer.known().orElse(null)) {
      case UNSPECIFIED -> "Unspecified";
      case INFINIBAND -> "InfiniBand";
      case ETHERNET -> "Ethernet";
      case null -> "Unknown (" + layer + ")";
    };
  }

  /** The command {@code bin/verbs devices}: lists the RDMA devices, as ibv_devices does. */
  @Command(name = "devices", description = "Lists the RDMA devices and their node GUIDs.")
  static final class Devices extends ToolCommand {
    @Override
    void run() throws IOException {
      try (IbvDeviceList list = IbvDeviceList.get()) {
        out().printf("    %-16s\t   node GUID%n", "device");
        out().printf("    %-16s\t----------------%n", "------");
        for (IbvDevice device : list.devices()) {
          out().printf("    %-16s\t%016x%n", device.name(), device.guid());
        }
      }
    }
  }
}
