// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.cm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import dev.sluice.verbs.NeedsRdmaDevice;
import dev.sluice.verbs.ProviderUnavailableException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

final class RdmaEventChannelTest {
  @Test
  void aMissingDeviceIsReportedWithTheRemedy() {
    assumeFalse(
        Files.exists(Path.of("/dev/infiniband/rdma_cm")), "this machine has an RDMA device");
    assertThatThrownBy(RdmaEventChannel::create)
        .isInstanceOf(ProviderUnavailableException.class)
        .hasMessageMatching(".*(: load |: install ).*");
  }

  @Test
  @NeedsRdmaDevice
  void waitingEndsAtItsDeadline() throws Exception {
    try (RdmaEventChannel channel = RdmaEventChannel.create()) {
      assertThat(channel.awaitEvent(1)).isEmpty();
      assertThat(channel.getEvent()).isEmpty();
    }
  }

  @Test
  @NeedsRdmaDevice
  void closingItClosesItsIds() throws Exception {
    RdmaEventChannel channel = RdmaEventChannel.create();
    RdmaCmId id = channel.createId(RdmaCmId.PortSpace.TCP);
    channel.close();
    channel.close();
    assertThat(id.isClosed()).isTrue();
  }
}
