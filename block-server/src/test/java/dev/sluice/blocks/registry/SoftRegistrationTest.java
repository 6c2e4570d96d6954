// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.registry;

import dev.sluice.blocks.directory.RegistrationMethod;
import dev.sluice.rdma.Device;
import dev.sluice.rdma.soft.SoftProvider;
import dev.sluice.rdma.soft.SoftProvider.SoftOptions;
import java.io.IOException;
import java.net.InetAddress;
import java.util.Optional;

class SoftRegistrationTest extends RegistrationContract {
  @Override
  Device openDevice() throws IOException {
    return new SoftProvider(SoftOptions.DEFAULT).open(InetAddress.getLoopbackAddress());
  }

  @Override
  Optional<RegistrationMethod> form() {
    return Optional.of(RegistrationMethod.OPEN_FILE);
  }
}
