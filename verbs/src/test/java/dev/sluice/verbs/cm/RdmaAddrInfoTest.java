// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.cm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sluice.verbs.FakeAdapters;
import dev.sluice.verbs.OnFakeAdapters;
import dev.sluice.verbs.VerbsException;
import dev.sluice.verbs.ibv.IbvQp;
import java.net.InetSocketAddress;
import java.net.StandardProtocolFamily;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Hints, as librdmacm gets them. */
@OnFakeAdapters
class RdmaAddrInfoTest {
  private FakeAdapters adapters;

  @BeforeEach
  void reset() throws Exception {
    adapters = FakeAdapters.reset();
  }

  private static RdmaAddrInfo.Hints hints(StandardProtocolFamily family, InetSocketAddress source) {
    return new RdmaAddrInfo.Hints(
        RdmaAddrInfo.Flags.NUMERICHOST, RdmaCmId.PortSpace.TCP, IbvQp.Type.RC, family, source);
  }

  @ParameterizedTest
  @ValueSource(strings = {"10.0.0.1", "2001:db8::1"})
  void theSourceAddressIsPassedOn(String source) throws Exception {
    InetSocketAddress address = new InetSocketAddress(source, 0);
    try (RdmaAddrInfo info = RdmaAddrInfo.get("10.0.0.2", "1", hints(null, address))) {
      assertThat(info.entries().getFirst().source()).isEqualTo(address);
    }
    assertThat(adapters.get(0, "ai_flags")).isEqualTo(RdmaAddrInfo.Flags.NUMERICHOST);
    assertThat(adapters.get(0, "ai_family")).isZero();
  }

  @Test
  void aFamilyIsPassedOnWithItsFlag() throws Exception {
    RdmaAddrInfo.get("localhost", "1", hints(StandardProtocolFamily.INET6, null)).close();
    assertThat(adapters.get(0, "ai_flags"))
        .isEqualTo(RdmaAddrInfo.Flags.NUMERICHOST | RdmaAddrInfo.Flags.FAMILY);
    assertThat(adapters.get(0, "ai_family")).isEqualTo(10);
    RdmaAddrInfo.get("localhost", "1", hints(StandardProtocolFamily.INET, null)).close();
    assertThat(adapters.get(0, "ai_family")).isEqualTo(2);
  }

  @Test
  void aServiceMayBeAbsent() throws Exception {
    RdmaAddrInfo.get("10.0.0.2", null, hints(null, null)).close();
    assertThat(adapters.get(0, "has_service")).isZero();
    RdmaAddrInfo.get("10.0.0.2", "1", hints(null, null)).close();
    assertThat(adapters.get(0, "has_service")).isEqualTo(1);
  }

  @Test
  void hintsThatCannotBeWrittenAreRefused() {
    InetSocketAddress unknown = InetSocketAddress.createUnresolved("nowhere", 0);
    assertThatThrownBy(() -> RdmaAddrInfo.get("10.0.0.2", "1", hints(null, unknown)))
        .isInstanceOf(VerbsException.class)
        .hasMessageContaining("its host name is not known");
    assertThatThrownBy(
            () -> RdmaAddrInfo.get("10.0.0.2", "1", hints(StandardProtocolFamily.UNIX, null)))
        .isInstanceOf(VerbsException.class)
        .hasMessageContaining("not INET or INET6");
  }
}
