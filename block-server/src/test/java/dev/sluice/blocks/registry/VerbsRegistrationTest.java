// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.registry;

import dev.sluice.blocks.directory.RegistrationMethod;
import dev.sluice.rdma.Device;
import dev.sluice.rdma.providers.Providers;
import dev.sluice.rdma.soft.SoftProvider.SoftOptions;
import dev.sluice.rdma.verbs.VerbsOptions;
import dev.sluice.verbs.NeedsRdmaDevice;
import dev.sluice.verbs.RdmaDevices;
import java.io.IOException;
import java.net.InetAddress;
import java.util.Optional;

@NeedsRdmaDevice
class VerbsRegistrationTest extends RegistrationContract {
  @Override
  Device openDevice() throws IOException {
    return Providers.open(
        "verbs", InetAddress.getLocalHost(), VerbsOptions.DEFAULT, SoftOptions.DEFAULT);
  }

  @Override
  Optional<RegistrationMethod> form() {
    return RdmaDevices.kernelPinsForReading()
        ? Optional.of(RegistrationMethod.READ_ONLY_MAPPING)
        : Optional.empty();
  }
}
