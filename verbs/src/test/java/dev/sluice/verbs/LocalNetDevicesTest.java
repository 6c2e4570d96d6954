// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests of the network devices of this network namespace, and of their addresses. */
class LocalNetDevicesTest {
  @Test
  void ipv6AddressesAreThoseOfTheirNetDevices(@TempDir Path directory) throws Exception {
    Path table =
        Files.writeString(
            directory.resolve("if_inet6"),
            """
            fe800000000000000000000000000001 0a 40 20 80     eth0
            20010db8000000000000000000000007 0a 40 00 00     eth0
            00000000000000000000000000000001 01 80 10 80       lo
            """);
    assertThat(LocalNetDevices.ipv6Addresses(table))
        .isEqualTo(
            Map.of(
                1, Set.of(IpLiteral.parse("::1")),
                10, Set.of(IpLiteral.parse("fe80::1"), IpLiteral.parse("2001:db8::7"))));
  }

  @Test
  void anAddressBelongsToItsDeviceOnly() throws Exception {
    LocalNetDevices local = LocalNetDevices.read(Path.of("/"));
    InetAddress loopback = IpLiteral.parse("127.0.0.1");
    assertThat(local.withAddress(loopback, device -> device.name().equals("lo"))).contains("lo");
    assertThat(local.withAddress(loopback, device -> !device.name().equals("lo"))).isEmpty();
  }
}
