package dev.sluice.rdma.verbs;

import dev.sluice.rdma.Gid;
import dev.sluice.rdma.VerbsException;
import dev.sluice.rdma.verbs.ibv.IbvContext;
import dev.sluice.rdma.verbs.ibv.IbvDevice;
import dev.sluice.rdma.verbs.ibv.IbvGidEntry;
import dev.sluice.rdma.verbs.ibv.IbvPortAttr;
import dev.sluice.rdma.verbs.ibv.IbvPortFlags;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** Reads what a device says of its ports, for the {@link PortChooser}. */
record PortReader(IbvContext context, Sysfs sysfs) {
  private static final Gid UNSET = new Gid(0, 0);

  /**
   * The device's ports that can be read.
   *
   * @param wanted others are not read
   * @param refused takes why of those that are left out
   */
  List<PortInfo> read(DeviceFilter wanted, List<String> refused) throws VerbsException {
    List<PortInfo> ports = new ArrayList<>();
    String device = context.device().name();
    int count = context.queryDevice().physPortCnt();
    for (int port = 1; port <= count; port++) {
      String name = device + ":" + port;
      if (!wanted.matches(device, port)) {
        refused.add(name + wanted.refusal());
        continue;
      }
      try {
        ports.add(read(port));
      } catch (VerbsException e) {
        refused.add(name + " cannot be read: " + e.getMessage());
      }
    }
    return ports;
  }

  PortInfo read(int port) throws VerbsException {
    IbvDevice device = context.device();
    IbvPortAttr attr = context.queryPort(port);
    List<GidEntry> gids = gids(port, attr.gidTblLen());
    Set<String> netDevices = sysfs.netDevices(device.name(), port);
    gids.stream().map(GidEntry::netDevice).filter(n -> !n.isEmpty()).forEach(netDevices::add);
    return new PortInfo(
        device.name(),
        port,
        device.transportType(),
        attr.state(),
        attr.linkLayer(),
        sysfs.rate(device.name(), port),
        attr.activeMtu(),
        attr.lid(),
        (attr.flags() & IbvPortFlags.GRH_REQUIRED) != 0,
        gids,
        pKeys(port, attr.pkeyTblLen()),
        netDevices,
        sysfs.trafficClass(device.name(), port));
  }

  private List<Integer> pKeys(int port, int length) throws VerbsException {
    List<Integer> table = new ArrayList<>();
    for (int i = 0; i < length; i++) {
      table.add(context.queryPkey(port, i));
    }
    return table;
  }

  private List<GidEntry> gids(int port, int length) throws VerbsException {
    List<GidEntry> entries = new ArrayList<>();
    for (int i = 0; i < length; i++) {
      Gid gid = context.queryGid(port, i);
      if (!gid.equals(UNSET)) {
        entries.add(entry(port, i, gid));
      }
    }
    return entries;
  }

  private GidEntry entry(int port, int index, Gid gid) {
    try {
      IbvGidEntry entry = context.queryGidEntry(port, index).orElse(null);
      if (entry != null) {
        return new GidEntry(index, gid, type(entry), netDevice(entry.interfaceIndex()));
      }
    } catch (VerbsException e) {
      // As by rdma-core before 32, and in a container that does not see the port's network device.
    }
    String device = context.device().name();
    return new GidEntry(
        index, gid, sysfs.gidType(device, port, index), sysfs.gidNetDevice(device, port, index));
  }

  private static GidEntry.Type type(IbvGidEntry entry) {
    return switch (entry.type().known().orElse(null)) {
      case IB -> GidEntry.Type.IB;
      case ROCE_V1 -> GidEntry.Type.ROCE_V1;
      case ROCE_V2 -> GidEntry.Type.ROCE_V2;
      case null -> GidEntry.Type.UNREADABLE;
    };
  }

  private static String netDevice(int interfaceIndex) {
    try {
      NetworkInterface device =
          interfaceIndex == 0 ? null : NetworkInterface.getByIndex(interfaceIndex);
      return device == null ? "" : device.getName();
    } catch (SocketException e) {
      return "";
    }
  }
}
