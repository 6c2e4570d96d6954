// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.cm;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sluice.verbs.VerbsException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import org.junit.jupiter.api.Test;

final class SocketAddressesTest {
  @Test
  void ipv4HasFamilyInHostAndPortAndAddressInNetworkOrder() throws Exception {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment struct =
          SocketAddresses.write(
              new InetSocketAddress(InetAddress.getByName("10.1.2.3"), 0x1234), arena);
      assertThat(struct.toArray(JAVA_BYTE))
          .containsExactly(2, 0, 0x12, 0x34, 10, 1, 2, 3, 0, 0, 0, 0, 0, 0, 0, 0);
    }
  }

  @Test
  void bothFamiliesComeBackAsTheyWere() throws Exception {
    try (Arena arena = Arena.ofConfined()) {
      for (String host : new String[] {"192.0.2.7", "2001:db8::7", "::"}) {
        InetSocketAddress address = new InetSocketAddress(InetAddress.getByName(host), 65535);
        assertThat(readBack(address, arena)).isEqualTo(address);
      }
    }
  }

  @Test
  void anIpv6ScopeIsKept() throws Exception {
    try (Arena arena = Arena.ofConfined()) {
      InetSocketAddress address = new InetSocketAddress(InetAddress.getByName("fe80::1%3"), 4791);
      assertThat(readBack(address, arena)).hasToString("/[fe80:0:0:0:0:0:0:1%3]:4791");
    }
  }

  @Test
  void zerosAreNoAddress() {
    try (Arena arena = Arena.ofConfined()) {
      assertThat(
              SocketAddresses.read(
                  RdmaCmStructs.HEADER.get("struct sockaddr_storage").allocate(arena)))
          .isNull();
    }
  }

  @Test
  void aHostThatWasNotResolvedIsRefused() {
    try (Arena arena = Arena.ofConfined()) {
      InetSocketAddress address = InetSocketAddress.createUnresolved("nowhere", 1);
      assertThatThrownBy(() -> SocketAddresses.write(address, arena))
          .isInstanceOf(VerbsException.class)
          .hasMessageContaining("nowhere");
    }
  }

  private static InetSocketAddress readBack(InetSocketAddress address, Arena arena)
      throws VerbsException {
    MemorySegment storage = RdmaCmStructs.HEADER.get("struct sockaddr_storage").allocate(arena);
    MemorySegment struct = SocketAddresses.write(address, arena);
    storage.asSlice(0, struct.byteSize()).copyFrom(struct);
    return SocketAddresses.read(storage);
  }
}
