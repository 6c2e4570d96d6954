// SPDX-License-Identifier: Apache-2.0
package dev.sluice.node;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sluice.blocks.conf.Setting;
import dev.sluice.rdma.verbs.VerbsOptions;
import dev.sluice.rdma.verbs.VerbsOptions.ConnectMode;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class NodeOptionsTest {
  @TempDir Path directory;

  @Test
  void aFileIsRead() throws Exception {
    Path file = directory.resolve("conf");
    Files.writeString(
        file,
        """
        # A node
        sluice.node.directories = /data1, /data2
        sluice.node.ports=7340-7355
        sluice.node.expireAfter=1h
        """);
    NodeOptions options = NodeOptions.of(NodeOptions.read(file));
    assertThat(options.get(NodeSettings.DIRECTORIES))
        .containsExactly(Path.of("/data1"), Path.of("/data2"));
    assertThat(options.get(NodeSettings.PORTS)).isEqualTo(new NodeOptions.Ports(7340, 7355));
    assertThat(options.get(NodeSettings.EXPIRE_AFTER)).isEqualTo(Duration.ofHours(1));
    assertThat(options.get(NodeSettings.HTTP)).isPresent();
  }

  @Test
  void argumentsOverrideTheFile() throws Exception {
    Path file = directory.resolve("conf");
    Files.writeString(file, "sluice.node.directories=/data1\nsluice.node.host=192.0.2.1\n");
    List<String> arguments = List.of("--conf", file.toString(), "sluice.node.host=192.0.2.2");

    NodeOptions options = NodeArguments.parse(arguments).options();
    assertThat(options.get(NodeSettings.DIRECTORIES)).containsExactly(Path.of("/data1"));
    assertThat(options.host()).isEqualTo("192.0.2.2");
    assertThat(
            NodeArguments.parse(List.of("sluice.node.directories=/data2"))
                .options()
                .get(NodeSettings.DIRECTORIES))
        .containsExactly(Path.of("/data2"));
  }

  @Test
  void theTemplateIsRight() throws Exception {
    Path template = Path.of("../conf/sluice-node.conf.template");
    assertThat(NodeOptions.of(NodeOptions.read(template)).get(NodeSettings.DIRECTORIES)).hasSize(2);
    Path whole = directory.resolve("whole");
    Files.writeString(whole, Files.readString(template).replaceAll("(?m)^#(?=sluice)", ""));
    Map<String, String> settings = NodeOptions.read(whole);
    assertThat(NodeOptions.of(settings).get(NodeSettings.MAX_EXECUTORS)).isEqualTo(256);
    assertThat(settings)
        .containsKeys(NodeSettings.OWN.stream().map(Setting::key).toArray(String[]::new));
  }

  @Test
  void aMachineWhoseNameIsALoopbackAddressHasToSayWhereItIsReached() throws Exception {
    InetAddress debian = InetAddress.getByAddress("box", new byte[] {127, 0, 1, 1});
    assertThatThrownBy(() -> NodeOptions.reachable(debian))
        .hasMessageContaining("sluice.node.host has to be set")
        .hasMessageContaining("box/127.0.1.1");
    InetAddress other = InetAddress.getByAddress("box", new byte[] {10, 0, 1, 1});
    assertThat(NodeOptions.reachable(other)).isEqualTo("10.0.1.1");
  }

  @Test
  void aDeviceIsDescribedAsAnExecutorsIs() {
    VerbsOptions verbs =
        NodeOptions.of(
                Map.of(
                    "sluice.node.directories", "/data1",
                    "sluice.node.devices", "mlx5_1:2",
                    "sluice.node.gid.index", "3",
                    "sluice.node.pkey", "0x8001",
                    "sluice.node.pathMtu", "2048",
                    "sluice.node.trafficClass", "104"))
            .verbsOptions();
    assertThat(verbs.devices()).hasToString("mlx5_1:2");
    assertThat(verbs.gid().index()).isEqualTo(3);
    assertThat(verbs.pKey()).isEqualTo(0x8001);
    assertThat(verbs.pathMtu()).isEqualTo(2048);
    assertThat(verbs.trafficClass()).isEqualTo(104);
    assertThat(verbs.connect()).isEqualTo(ConnectMode.CONTROL);
  }

  @Test
  void byDefaultThereIsNoDirectory() {
    assertThatThrownBy(() -> NodeOptions.of(Map.of()))
        .hasMessageContaining("sluice.node.directories has to be set");
  }

  @Test
  void aPortThatIsFreeAgainComesLast() {
    NodeOptions.Ports ports = new NodeOptions.Ports(7340, 7343);
    assertThat(ports.inTurn(0, 0, Set.of())).containsExactly(7340, 7341, 7342, 7343);
    assertThat(ports.inTurn(0, 7341, Set.of(7342))).containsExactly(7343, 7340, 7341);
    assertThat(ports.inTurn(7342, 7343, Set.of())).containsExactly(7342, 7340, 7341, 7343);
    assertThat(new NodeOptions.Ports(0, 0).inTurn(7342, 7343, Set.of())).containsExactly(7342, 0);
  }

  @Test
  void anUnknownKeyIsNamed() {
    assertThatThrownBy(() -> NodeOptions.of(Map.of("sluice.node.prots", "1")))
        .hasMessageContaining("sluice.node.prots")
        .hasMessageContaining("did you mean sluice.node.ports?");
  }

  @ParameterizedTest
  @CsvSource({
    "ports, 0-7",
    "ports, 9-8",
    "ports, 65536",
    "ports, a",
    "http, 7338",
    "maxApplications, 0",
    "maxApplications, many",
    "staging.maxBytes, 1m",
    "provider, hardware",
    "connections.max, 0",
    "devices, mlx5_0:x",
    "gid.index, 70000",
    "trafficClass, 256",
    "serviceLevel, 16",
    "pkey, 0x10000",
    "pathMtu, 1500",
    "connect, tcp",
    "minFreeBytes, a bit",
    "expireAfter, soon",
    "expireAfter, 0",
    "drainFile, ''",
    "socket, ''"
  })
  void aWrongValueIsRefused(String key, String value) {
    Map<String, String> settings =
        Map.of("sluice.node.directories", "/data1", "sluice.node." + key, value);
    assertThatThrownBy(() -> NodeOptions.of(settings))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContainingAll("sluice.node." + key + " is \"" + value + "\"", ", but must be ");
  }
}
