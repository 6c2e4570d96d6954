// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.providers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import dev.sluice.rdma.Device;
import dev.sluice.rdma.soft.SoftProvider.SoftOptions;
import dev.sluice.rdma.verbs.VerbsOptions;
import dev.sluice.rdma.verbs.VerbsProvider;
import dev.sluice.verbs.ProviderUnavailableException;
import dev.sluice.verbs.RdmaDevices;
import java.net.InetAddress;
import org.junit.jupiter.api.Test;

class ProvidersTest {
  private final InetAddress loopback = InetAddress.getLoopbackAddress();

  @Test
  void opensTheSoftwareProviderWhenAsked() throws Exception {
    try (Device device =
        Providers.open("soft", loopback, VerbsOptions.DEFAULT, SoftOptions.DEFAULT)) {
      assertThat(device.providerName()).isEqualTo("soft");
      assertThat(device.name()).isEqualTo("soft0");
    }
  }

  @Test
  void autoTakesTheSoftwareProviderWhereVerbsCannotWork() throws Exception {
    assumeThat(RdmaDevices.address()).isEmpty();
    try (Device device =
        Providers.open("auto", loopback, VerbsOptions.DEFAULT, SoftOptions.DEFAULT)) {
      assertThat(device.providerName()).isEqualTo("soft");
    }
  }

  @Test
  void refusesAnUnknownProvider() {
    assertThatThrownBy(
            () -> Providers.open("off", loopback, VerbsOptions.DEFAULT, SoftOptions.DEFAULT))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("provider 'off' is not one of auto, verbs, soft");
  }

  @Test
  void verbsWithoutADeviceIsAnErrorWithTheReason() {
    assumeThat(RdmaDevices.address()).isEmpty();
    assertThatThrownBy(() -> new VerbsProvider(VerbsOptions.DEFAULT).open(loopback))
        .isInstanceOf(ProviderUnavailableException.class)
        .message()
        .containsAnyOf(
            "libibverbs.so.1 cannot be loaded", "the kernel has no RDMA", "no RDMA port");
  }
}
