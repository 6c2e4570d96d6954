// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.verbs;

import dev.sluice.rdma.verbs.VerbsSurvey.Refusal;
import dev.sluice.verbs.Gid;
import dev.sluice.verbs.LocalNetDevices;
import dev.sluice.verbs.NetDevice;
import dev.sluice.verbs.VerbsException;
import dev.sluice.verbs.ffi.CValue;
import dev.sluice.verbs.ibv.IbvContext;
import dev.sluice.verbs.ibv.IbvDevice;
import dev.sluice.verbs.ibv.IbvGidEntry;
import dev.sluice.verbs.ibv.IbvPortAttr;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads a device's ports for the {@link PortChooser}: on the thread that opens the device, and
 * later on the thread of its events. The context belongs to {@link OpenPorts}, then to the device.
 */
record PortReader(IbvContext context, Sysfs sysfs) {
  private static final Logger LOG = LoggerFactory.getLogger(PortReader.class);
  private static final Gid UNSET = new Gid(0, 0);

  /**
   * Reads the device's ports, as far as they can be read.
   *
   * @param wanted other ports are not read
   * @param refused receives the reasons for the ports that are left out
   */
  List<PortInfo> read(DeviceFilter wanted, List<Refusal> refused) throws VerbsException {
    LocalNetDevices local = LocalNetDevices.read(sysfs.root());
    List<PortInfo> ports = new ArrayList<>();
    String device = context.device().name();
    int count = context.queryDevice().physPortCnt();
    for (int port = 1; port <= count; port++) {
      String name = device + ":" + port;
      if (!wanted.matches(device, port)) {
        refused.add(new Refusal(name, Refusal.Kind.EXCLUDED, wanted.refusal()));
        continue;
      }
      try {
        ports.add(read(port, local));
      } catch (VerbsException e) {
        refused.add(new Refusal(name, Refusal.Kind.OTHER, "cannot be read: " + e.getMessage()));
      }
    }
    return ports;
  }

  PortInfo read(int port) throws VerbsException {
    return read(port, LocalNetDevices.read(sysfs.root()));
  }

  private PortInfo read(int port, LocalNetDevices local) throws VerbsException {
    IbvDevice device = context.device();
    IbvPortAttr attr = context.queryPort(port);
    List<GidEntry> gids = gids(port, attr.gidTblLen(), local);
    Set<String> netDevices =
        sysfs.netDevices(device.name(), port).stream()
            .filter(local::contains)
            .map(NetDevice::name)
            .collect(Collectors.toCollection(TreeSet::new));
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
        (attr.flags() & IbvPortAttr.Flags.GRH_REQUIRED) != 0,
        gids,
        pKeys(port, attr.pkeyTblLen()),
        netDevices,
        sysfs.trafficClass(device.name(), port));
  }

  private interface TableEntry<T> {
    T read(int index) throws VerbsException;
  }

  /**
   * Reads a table of a port. An entry that cannot be read counts as unset.
   *
   * @throws VerbsException if no entry can be read
   */
  private <T> List<T> table(int length, T unset, TableEntry<T> entry) throws VerbsException {
    List<T> table = new ArrayList<>();
    int unreadable = 0;
    for (int i = 0; i < length; i++) {
      try {
        table.add(entry.read(i));
      } catch (VerbsException e) {
        unreadable++;
        if (unreadable == length) {
          throw e;
        }
        LOG.debug("{}: skipping an unreadable entry of a port's table", context.device(), e);
        table.add(unset);
      }
    }
    return table;
  }

  private List<Integer> pKeys(int port, int length) throws VerbsException {
    return table(length, 0, index -> context.queryPkey(port, index));
  }

  private List<GidEntry> gids(int port, int length, LocalNetDevices local) throws VerbsException {
    List<Gid> table = table(length, UNSET, index -> context.queryGid(port, index));
    return IntStream.range(0, length)
        .filter(index -> !table.get(index).equals(UNSET))
        .mapToObj(index -> entry(port, index, table.get(index), local))
        .toList();
  }

  private GidEntry entry(int port, int index, Gid gid, LocalNetDevices local) {
    try {
      IbvGidEntry entry = context.queryGidEntry(port, index).orElse(null);
      if (entry != null) {
        int netDevice = entry.interfaceIndex();
        return netDevice == 0
            ? new GidEntry(index, gid, type(entry), "", false)
            : entry(index, gid, type(entry), local, own -> own.index() == netDevice);
      }
    } catch (VerbsException e) {
      // This happens with rdma-core before 32, and in a container without the port's network
      // device.
    }
    String device = context.device().name();
    GidEntry.Type type = sysfs.gidType(device, port, index);
    String netDevice = sysfs.gidNetDevice(device, port, index);
    return netDevice.isEmpty()
        ? new GidEntry(index, gid, type, "", false)
        : entry(index, gid, type, local, own -> own.name().equals(netDevice));
  }

  /**
   * Makes an entry, which is foreign unless a local network device has its address.
   *
   * @param condition holds for the GID's network device; a device of another namespace may have the
   *     same name or index
   */
  private static GidEntry entry(
      int index,
      Gid gid,
      GidEntry.Type type,
      LocalNetDevices local,
      Predicate<NetDevice> condition) {
    String netDevice = local.withAddress(gid.toInetAddress(), condition).orElse("");
    return new GidEntry(index, gid, type, netDevice, netDevice.isEmpty());
  }

  private static GidEntry.Type type(IbvGidEntry entry) {
    return switch (entry.type().known().orElse(null)) {
      case IB -> GidEntry.Type.IB;
      case ROCE_V1 -> GidEntry.Type.ROCE_V1;
      case ROCE_V2 -> GidEntry.Type.ROCE_V2;
      case null -> GidEntry.Type.UNREADABLE;
    };
  }

  /**
   * Attributes of a device's port from which one is chosen (ibv_query_port(3) and its tables).
   *
   * @param device the device's name, such as {@code mlx5_0}
   * @param number from 1 on
   * @param transport protocol of the device's queue pairs
   * @param state only an ACTIVE port carries packets
   * @param linkLayer InfiniBand or Ethernet
   * @param rate as sysfs gives it, such as {@code 100 Gb/sec (4X EDR)}
   * @param activeMtu the largest MTU that its link allows now
   * @param lid local identifier; 0 on Ethernet
   * @param requiresGrh true if packets need a GRH even within their subnet ({@link
   *     dev.sluice.verbs.ibv.IbvPortAttr.Flags#GRH_REQUIRED})
   * @param gids the valid entries of the GID table
   * @param pKeys the table of partition keys; queue pairs name them by their index
   * @param netDevices network devices that share the port
   * @param trafficClass traffic class that the administrator configured for all packets of the port
   */
  record PortInfo(
      String device,
      int number,
      CValue<IbvDevice.TransportType> transport,
      CValue<IbvPortAttr.State> state,
      CValue<IbvPortAttr.LinkLayer> linkLayer,
      String rate,
      CValue<IbvPortAttr.Mtu> activeMtu,
      int lid,
      boolean requiresGrh,
      List<GidEntry> gids,
      List<Integer> pKeys,
      Set<String> netDevices,
      OptionalInt trafficClass) {

    boolean isEthernet() {
      return linkLayer.is(IbvPortAttr.LinkLayer.ETHERNET);
    }

    /** The form that is used in configuration. */
    @Override
    public String toString() {
      return device + ":" + number;
    }
  }
}
