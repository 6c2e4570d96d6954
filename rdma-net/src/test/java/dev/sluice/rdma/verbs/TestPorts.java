// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.verbs;

import dev.sluice.rdma.verbs.GidEntry.Type;
import dev.sluice.rdma.verbs.PortReader.PortInfo;
import dev.sluice.verbs.Gid;
import dev.sluice.verbs.IpLiteral;
import dev.sluice.verbs.ffi.CValue;
import dev.sluice.verbs.ibv.IbvDevice;
import dev.sluice.verbs.ibv.IbvPortAttr;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.Set;
import java.util.stream.Collectors;

/** Builds ports as the kernel would describe them. */
final class TestPorts {
  private final String device;
  private final IbvPortAttr.LinkLayer linkLayer;
  private final List<GidEntry> gids = new ArrayList<>();
  private List<Integer> pKeys = List.of(0xFFFF);
  private IbvDevice.TransportType transport = IbvDevice.TransportType.IB;
  private IbvPortAttr.State state = IbvPortAttr.State.ACTIVE;
  private OptionalInt trafficClass = OptionalInt.empty();
  private int number = 1;
  private boolean requiresGrh;

  private TestPorts(String device, IbvPortAttr.LinkLayer linkLayer) {
    this.device = device;
    this.linkLayer = linkLayer;
  }

  static TestPorts roce(String device) {
    return new TestPorts(device, IbvPortAttr.LinkLayer.ETHERNET);
  }

  static TestPorts infiniBand(String device) {
    return new TestPorts(device, IbvPortAttr.LinkLayer.INFINIBAND);
  }

  TestPorts number(int value) {
    number = value;
    return this;
  }

  TestPorts gid(int index, String address, Type type) {
    return gid(index, address, type, "");
  }

  TestPorts gid(int index, String address, Type type, String netDevice) {
    gids.add(new GidEntry(index, Gid.of(IpLiteral.parse(address)), type, netDevice, false));
    return this;
  }

  /** Adds a RoCE v2 GID whose network device is in another network namespace. */
  TestPorts foreignGid(int index, String address) {
    Gid gid = Gid.of(IpLiteral.parse(address));
    gids.add(new GidEntry(index, gid, Type.ROCE_V2, "", true));
    return this;
  }

  TestPorts pKeys(Integer... values) {
    pKeys = List.of(values);
    return this;
  }

  TestPorts transport(IbvDevice.TransportType value) {
    transport = value;
    return this;
  }

  TestPorts state(IbvPortAttr.State value) {
    state = value;
    return this;
  }

  TestPorts trafficClass(int value) {
    trafficClass = OptionalInt.of(value);
    return this;
  }

  TestPorts requiringGrh() {
    requiresGrh = true;
    return this;
  }

  PortInfo build() {
    Set<String> netDevices =
        gids.stream()
            .map(GidEntry::netDevice)
            .filter(name -> !name.isEmpty())
            .collect(Collectors.toSet());
    return new PortInfo(
        device,
        number,
        CValue.of(transport),
        CValue.of(state),
        CValue.of(linkLayer),
        "100 Gb/sec (4X EDR)",
        CValue.of(IbvPortAttr.Mtu.MTU_4096),
        0,
        requiresGrh,
        gids,
        pKeys,
        netDevices,
        trafficClass);
  }
}
