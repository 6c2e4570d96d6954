// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.tools;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sluice.verbs.FakeAdapters;
import dev.sluice.verbs.Gid;
import dev.sluice.verbs.OnFakeAdapters;
import dev.sluice.verbs.ibv.IbvDeviceAttr;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The ping-pong over XRC on simulated adapters; no device of the test bed has XRC. */
@OnFakeAdapters
class XsrqPingPongTest {
  private static final String LINE =
      "0001:00000a:00000b:00000c:00000d:fe800000000000000000000000000001\0";

  @Test
  void aServerPlaysWithItsClients() throws Exception {
    FakeAdapters adapters = FakeAdapters.reset();
    adapters.set(0, "device_cap_flags", IbvDeviceAttr.Caps.XRC);
    adapters.set(1, "device_cap_flags", IbvDeviceAttr.Caps.XRC);
    int port = FreePort.find();
    ToolRun server = play("mlx5_0", port, "-n", "7");
    CProgram.awaitListening(port);
    ToolRun client = play("mlx5_1", port, "-n", "7", "localhost");
    client.assertSuccess();
    server.assertSuccess();
    assertThat(server.output()).endsWith("success\n").contains("remote  ");
    assertThat(adapters.get(0, "xrc_received")).isEqualTo(7);
    assertThat(adapters.get(1, "xrc_received")).isEqualTo(7);
  }

  @Test
  void aServerReachesEachOfItsClients() throws Exception {
    FakeAdapters adapters = FakeAdapters.reset();
    adapters.set(0, "device_cap_flags", IbvDeviceAttr.Caps.XRC);
    int port = FreePort.find();
    ToolRun server = play("mlx5_0", port, "-n", "3", "-c", "2");
    CProgram.awaitListening(port);
    ToolRun one = play("mlx5_0", port, "-n", "3", "localhost");
    ToolRun two = play("mlx5_0", port, "-n", "3", "localhost");
    one.assertSuccess();
    two.assertSuccess();
    server.assertSuccess();
    assertThat(adapters.get(0, "xrc_received")).isEqualTo(12);
  }

  @Test
  void adaptersWithoutXrcAreRefusedInALine() throws Exception {
    FakeAdapters.reset();
    ToolRun run = ToolRun.finished("xsrq-pingpong", "-d", "mlx5_0");
    assertThat(run.status()).isEqualTo(1);
    assertThat(run.errors())
        .isEqualTo(
            "verbs xsrq-pingpong: mlx5_0 does not support extended reliable connections"
                + " (XRC)\n");
  }

  @Test
  void addressesAreThoseOfTheProgramInC() throws Exception {
    Gid gid = new Gid(0xfe80000000000000L, 1);
    XsrqPingPongCommand.Address address =
        new XsrqPingPongCommand.Address(
            new QpAddress(1, 10, 12, gid), new QpAddress(1, 11, 12, gid), 13);
    assertThat(address.toWire())
        .hasSize(XsrqPingPongCommand.Address.WIRE_LENGTH)
        .asString(StandardCharsets.US_ASCII)
        .isEqualTo(LINE);
    assertThat(XsrqPingPongCommand.Address.fromWire(address.toWire())).isEqualTo(address);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "GET / HTTP/1.1", "0001:00000a:00000b", "0001:0a:0b:0c:x:00"})
  void anotherProgramIsRefused(String line) {
    byte[] bytes = line.getBytes(StandardCharsets.US_ASCII);
    assertThatThrownBy(() -> XsrqPingPongCommand.Address.fromWire(bytes))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("it must run the same program");
  }

  private static ToolRun play(String device, int port, String... arguments) {
    String[] all = new String[arguments.length + 5];
    System.arraycopy(new String[] {"xsrq-pingpong", "-d", device, "-p", "" + port}, 0, all, 0, 5);
    System.arraycopy(arguments, 0, all, 5, arguments.length);
    return ToolRun.start(all);
  }
}
