// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.verbs;

import static dev.sluice.rdma.verbs.GidEntry.Type.IB;
import static dev.sluice.rdma.verbs.GidEntry.Type.ROCE_V1;
import static dev.sluice.rdma.verbs.GidEntry.Type.ROCE_V2;
import static dev.sluice.rdma.verbs.VerbsOptions.AUTO;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sluice.rdma.verbs.PortChooser.ChosenPort;
import dev.sluice.rdma.verbs.PortReader.PortInfo;
import dev.sluice.verbs.IpLiteral;
import dev.sluice.verbs.ProviderUnavailableException;
import dev.sluice.verbs.ibv.IbvDevice;
import dev.sluice.verbs.ibv.IbvPortAttr;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PortChooserTest {
  private static final VerbsOptions DEFAULT = VerbsOptions.DEFAULT;

  private static final List<PortInfo> FOUR =
      IntStream.range(0, 4).mapToObj(i -> rxe("mlx5_" + i, "10.0." + i + ".1").build()).toList();

  /** Empty, as for a process that is not bound to a NUMA node. */
  @TempDir static Path root;

  private static TestPorts rxe(String device, String address) {
    return TestPorts.roce(device)
        .gid(0, "fe80::1", ROCE_V2, device + "-net")
        .gid(1, address, ROCE_V2, device + "-net");
  }

  private static PortChooser chooser(
      VerbsOptions options, String local, String netDevice, OptionalInt turn) {
    NumaNode numaNode = new NumaNode(new Sysfs(root));
    return new PortChooser(options, IpLiteral.parse(local), netDevice, turn, numaNode);
  }

  private static ChosenPort choose(
      VerbsOptions options, String local, String netDevice, TestPorts... ports)
      throws ProviderUnavailableException {
    return chooser(options, local, netDevice, OptionalInt.empty())
        .choose(Stream.of(ports).map(TestPorts::build).toList(), List.of());
  }

  private static ChosenPort choose(VerbsOptions options, TestPorts... ports)
      throws ProviderUnavailableException {
    return choose(options, "127.0.0.1", "lo", ports);
  }

  private static VerbsOptions options(int trafficClass, int pKey, int pathMtu) {
    return DEFAULT.with(
        o -> {
          o.trafficClass = trafficClass;
          o.serviceLevel = 3;
          o.pKey = pKey;
          o.pathMtu = pathMtu;
          o.hopLimit = 64;
        });
  }

  @Test
  void thePortWithTheLocalAddressIsPreferred() throws Exception {
    ChosenPort chosen =
        choose(DEFAULT, "10.0.1.1", "", rxe("rxe0", "10.0.0.1"), rxe("rxe1", "10.0.1.1"));
    assertThat(chosen.port().device()).isEqualTo("rxe1");
    assertThat(chosen.gid().index()).isEqualTo(1);
  }

  @Test
  void thePortOfTheLocalAddressesNetDeviceComesSecond() throws Exception {
    ChosenPort chosen =
        choose(DEFAULT, "10.3.0.1", "rxe1-net", rxe("rxe0", "10.0.0.1"), rxe("rxe1", "10.0.1.1"));
    assertThat(chosen.port().device()).isEqualTo("rxe1");
  }

  @Test
  void theReasonsAreReported() throws Exception {
    assertThat(reason(DEFAULT, "10.0.1.1", ""))
        .isEqualTo("port: it has this process's own address; GID: this process's own address");
    assertThat(reason(DEFAULT, "10.3.0.1", "rxe1-net"))
        .startsWith("port: it shares rxe1-net with this process's own address; GID: the first");
    assertThat(reason(DEFAULT, "127.0.0.1", "lo")).startsWith("port: the first usable port");
    VerbsOptions asked = DEFAULT.with(o -> o.gid = o.gid.at(0));
    assertThat(reason(asked, "127.0.0.1", "lo")).endsWith("GID: set by gid.index");
  }

  private static String reason(VerbsOptions options, String local, String netDevice)
      throws ProviderUnavailableException {
    TestPorts[] ports = {rxe("rxe0", "10.0.0.1"), rxe("rxe1", "10.0.1.1")};
    return chooser(options, local, netDevice, OptionalInt.empty())
        .reason(choose(options, local, netDevice, ports));
  }

  @Test
  void theFirstPortIsTheLastResort() throws Exception {
    assertThat(choose(DEFAULT, rxe("rxe0", "10.0.0.1"), rxe("rxe1", "10.0.1.1")).port().device())
        .isEqualTo("rxe0");
  }

  @Test
  void processesThatAreToSpreadTakeThePortsInTurn() throws Exception {
    List<PortInfo> ports =
        List.of(rxe("rxe0", "10.0.0.1").build(), rxe("rxe1", "10.0.1.1").build());
    List<String> chosen = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      PortChooser chooser = chooser(DEFAULT, "10.0.1.1", "", OptionalInt.of(i));
      chosen.add(chooser.choose(ports, List.of()).port().device());
    }
    assertThat(chosen).containsExactly("rxe0", "rxe1", "rxe0", "rxe1");
  }

  /** The configuration may name several ports, some of which belong to other pods. */
  @Test
  void processesThatAreToSpreadTakePortsOfTheirOwnNetworkNamespaceFirst() throws Exception {
    VerbsOptions named = DEFAULT.with(o -> o.spreads = true);
    PortInfo foreign = TestPorts.roce("rxe0").foreignGid(1, "10.0.0.1").build();
    PortInfo own = rxe("rxe1", "10.0.1.1").build();
    for (int i = 0; i < 2; i++) {
      PortChooser chooser = chooser(named, "10.3.0.1", "", OptionalInt.of(i));
      assertThat(chooser.choose(List.of(foreign, own), List.of()).port()).isEqualTo(own);
      ChosenPort chosen = chooser.choose(List.of(foreign), List.of());
      assertThat(chosen.port()).isEqualTo(foreign);
      assertThat(chooser.doubt(chosen)).isPresent();
    }
  }

  @Test
  void portsOfTheOwnNetworkNamespaceComeFirstForAnIndexThatIsAskedFor() throws Exception {
    VerbsOptions asked = DEFAULT.with(o -> o.gid = o.gid.at(1));
    ChosenPort chosen =
        choose(
            asked,
            "10.3.0.1",
            "eth0",
            TestPorts.roce("rxe0").foreignGid(1, "10.0.0.1"),
            rxe("rxe1", "10.0.1.1"));
    assertThat(chosen.port().device()).isEqualTo("rxe1");
  }

  /** A chooser on a machine with mlx5_0 and mlx5_2 on node 0, and mlx5_1 and mlx5_3 on node 1. */
  private static PortChooser onSecondNode(Path machine, String netDevice, OptionalInt turn)
      throws IOException {
    write(machine, "sys/devices/system/node/node0/cpulist", "0-3");
    write(machine, "sys/devices/system/node/node1/cpulist", "4-7");
    write(machine, "proc/self/status", "Cpus_allowed_list:\t5-6");
    for (int i = 0; i < 4; i++) {
      write(machine, "sys/class/infiniband/mlx5_" + i + "/device/numa_node", "" + i % 2);
    }
    NumaNode numaNode = new NumaNode(new Sysfs(machine));
    InetAddress local = IpLiteral.parse("10.9.0.1");
    return new PortChooser(DEFAULT, local, netDevice, turn, numaNode);
  }

  private static void write(Path root, String file, String text) throws IOException {
    Path path = root.resolve(file);
    Files.createDirectories(path.getParent());
    Files.writeString(path, text);
  }

  @Test
  void portsOnTheProcesssNumaNodeAreTakenInTurn(@TempDir Path machine) throws Exception {
    List<String> chosen = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      PortChooser chooser = onSecondNode(machine, "", OptionalInt.of(i));
      chosen.add(chooser.choose(FOUR, List.of()).port().device());
    }
    assertThat(chosen).containsExactly("mlx5_1", "mlx5_3", "mlx5_1", "mlx5_3");
  }

  @Test
  void thePortWithTheAddressComesBeforePortsOnTheProcesssNumaNode(@TempDir Path machine)
      throws Exception {
    PortChooser chooser = onSecondNode(machine, "mlx5_2-net", OptionalInt.empty());
    ChosenPort chosen = chooser.choose(FOUR, List.of());
    assertThat(chosen.port().device()).isEqualTo("mlx5_2");
    assertThat(chooser.reason(chosen))
        .contains("address, on NUMA node 0 (this process: node 1); GID");
  }

  @Test
  void theBondedPortOnTheProcesssNumaNodeIsTaken(@TempDir Path machine) throws Exception {
    List<PortInfo> bond =
        Stream.of("mlx5_0", "mlx5_1")
            .map(device -> TestPorts.roce(device).gid(1, "10.0.0.1", ROCE_V2, "bond0").build())
            .toList();
    PortChooser chooser = onSecondNode(machine, "bond0", OptionalInt.empty());
    ChosenPort chosen = chooser.choose(bond, List.of());
    assertThat(chosen.port().device()).isEqualTo("mlx5_1");
    assertThat(chooser.reason(chosen)).contains("address, on NUMA node 1 like this process; GID");
  }

  /** Otherwise two executors of one host might be in two networks that are not connected. */
  @Test
  void wherePortsAreOfNetworksThatNothingIsKnownOfTheFirstStays(@TempDir Path machine)
      throws Exception {
    PortChooser chooser = onSecondNode(machine, "lo", OptionalInt.empty());
    assertThat(chooser.choose(FOUR, List.of()).port().device()).isEqualTo("mlx5_0");
  }

  @Test
  void onlyActivePortsAreTaken() throws Exception {
    ChosenPort chosen =
        choose(
            DEFAULT,
            "10.0.0.1",
            "",
            rxe("rxe0", "10.0.0.1").state(IbvPortAttr.State.DOWN),
            rxe("rxe3", "10.0.2.1"));
    assertThat(chosen.port().device()).isEqualTo("rxe3");
  }

  @Test
  void aRefusalHasAReasonForEachPort() {
    assertThatThrownBy(
            () ->
                choose(
                    DEFAULT,
                    rxe("mlx5_0", "10.0.0.1").state(IbvPortAttr.State.DOWN),
                    rxe("mlx5_0", "10.0.0.1").number(2).state(IbvPortAttr.State.INIT),
                    rxe("siw0", "10.0.0.1").transport(IbvDevice.TransportType.IWARP),
                    TestPorts.roce("mlx5_1").gid(4, "10.0.0.1", ROCE_V1),
                    TestPorts.infiniBand("mlx5_2").gid(0, "fe80::1", IB).pKeys(0x7FFF, 0)))
        .isInstanceOf(ProviderUnavailableException.class)
        .hasMessage(
            "no RDMA port can be used:"
                + " mlx5_0:1 is DOWN and not ACTIVE; mlx5_0:2 is INIT and not ACTIVE;"
                + " siw0:1 is neither InfiniBand nor RoCE (IWARP);"
                + " mlx5_1:1 has no suitable GID: index 4 10.0.0.1 is RoCE v1 and not RoCE v2;"
                + " mlx5_2:1 is a full member of no partition");
  }

  @Test
  void withoutAnyPortThereIsNothingToChoose() {
    assertThatThrownBy(() -> choose(DEFAULT))
        .isInstanceOf(ProviderUnavailableException.class)
        .hasMessage("no RDMA port can be used: there is none");
  }

  @Test
  void aRefusalNamesDevicesWhosePortsCannotBeSeen() {
    PortChooser chooser = chooser(DEFAULT, "127.0.0.1", "", OptionalInt.empty());
    assertThatThrownBy(() -> chooser.choose(List.of(), List.of("rxe0 cannot be opened")))
        .isInstanceOf(ProviderUnavailableException.class)
        .hasMessage("no RDMA port can be used: rxe0 cannot be opened");
  }

  @Test
  void theTrafficClassIsTheAskedOneElseThePortsElseThatOfTheLinkLayer() throws Exception {
    TestPorts roce = rxe("rxe0", "10.0.0.1");
    TestPorts infiniBand = TestPorts.infiniBand("mlx5_0").gid(0, "fe80::1", IB);
    assertThat(choose(DEFAULT, roce).trafficClass()).isEqualTo(106);
    assertThat(choose(DEFAULT, infiniBand).trafficClass()).isZero();
    assertThat(choose(DEFAULT, roce.trafficClass(96)).trafficClass()).isEqualTo(96);
    assertThat(choose(options(8, AUTO, AUTO), roce).trafficClass()).isEqualTo(8);
  }

  @Test
  void thePartitionIsTheFirstWithFullMembership() throws Exception {
    TestPorts port = rxe("rxe0", "10.0.0.1").pKeys(0x7FFF, 0, 0x8005, 0xFFFF);
    assertThat(choose(DEFAULT, port).pKeyIndex()).isEqualTo(2);
  }

  @Test
  void thePartitionThatWasAskedForIsFoundWithItsBestMembership() throws Exception {
    TestPorts port = rxe("rxe0", "10.0.0.1").pKeys(0xFFFF, 0x0005, 0x8005, 0x0006);
    assertThat(choose(options(AUTO, 0x0005, AUTO), port).pKeyIndex()).isEqualTo(2);
    assertThat(choose(options(AUTO, 0x8006, AUTO), port).pKeyIndex()).isEqualTo(3);
    assertThatThrownBy(() -> choose(options(AUTO, 0x8007, AUTO), port))
        .isInstanceOf(ProviderUnavailableException.class)
        .hasMessage("no RDMA port can be used: rxe0:1 is not in partition 0x8007");
  }

  @Test
  void theMtuIsThePortsOrLess() throws Exception {
    TestPorts port = rxe("rxe0", "10.0.0.1");
    assertThat(choose(DEFAULT, port).pathMtu()).isEqualTo(4096);
    assertThat(choose(options(AUTO, AUTO, 1024), port).pathMtu()).isEqualTo(1024);
  }

  @Test
  void theBannerTellsAll() throws Exception {
    assertThat(choose(DEFAULT, rxe("rxe0", "10.0.0.1")).banner())
        .isEqualTo(
            "rxe0:1, ACTIVE, Ethernet, 100 Gb/sec (4X EDR), MTU 4096 of 4096,"
                + " GID index 1 10.0.0.1 (RoCE v2), P_Key 0xffff, traffic class 106,"
                + " service level 0");
  }
}
