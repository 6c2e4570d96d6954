// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.cm;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.verbs.FakeAdapters;
import dev.sluice.verbs.IpLiteral;
import dev.sluice.verbs.OnFakeAdapters;
import dev.sluice.verbs.ibv.IbvGidEntry;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import org.junit.jupiter.api.Test;

/** Events of a librdmacm of another release. */
@OnFakeAdapters
final class RdmaCmUnknownEventTest {
  private static final InetAddress ADDRESS = IpLiteral.parse("10.0.0.1");

  @Test
  void anEventThatHasNoConstantIsANumber() throws Exception {
    FakeAdapters adapters = FakeAdapters.reset();
    adapters.gid(0, 0, IbvGidEntry.Type.ROCE_V2, ADDRESS.getHostAddress());
    try (RdmaEventChannel channel = RdmaEventChannel.create()) {
      RdmaCmId listening = channel.createId(RdmaCmId.PortSpace.TCP);
      listening.bind(new InetSocketAddress(ADDRESS, 0));
      listening.listen(1);
      adapters.raiseByCm(99);
      try (RdmaCmEvent event = channel.awaitEvent(10_000).orElseThrow()) {
        assertThat(event.type().number()).isEqualTo(99);
        assertThat(event.type().known()).isEmpty();
        assertThat(event.text()).isEqualTo("an event");
        assertThat(event.toString()).startsWith("99 of cm id");
      }
    }
  }
}
