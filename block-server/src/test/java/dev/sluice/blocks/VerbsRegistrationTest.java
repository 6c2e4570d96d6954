// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks;

import static org.assertj.core.api.Assumptions.assumeThat;

import dev.sluice.rdma.Device;
import dev.sluice.rdma.providers.Providers;
import dev.sluice.rdma.soft.SoftProvider.SoftOptions;
import dev.sluice.rdma.verbs.VerbsOptions;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Path;
import java.util.Arrays;
import org.junit.jupiter.api.Tag;

/** Skipped if there is no RDMA device; {@code bin/with-verbs} runs it. */
@Tag("rdma-device")
class VerbsRegistrationTest extends RegistrationContract {
  private static final Path DEVICES = Path.of("/sys/class/infiniband");
  private static final int[] PINS_FOR_READING = {6, 2};

  @Override
  Device openDevice() throws IOException {
    assumeThat(DEVICES).as("RDMA devices").isNotEmptyDirectory();
    return Providers.open(
        "verbs", InetAddress.getLocalHost(), VerbsOptions.DEFAULT, SoftOptions.DEFAULT);
  }

  @Override
  RegistrationMethod best() {
    String[] version = System.getProperty("os.version").split("[^0-9]+");
    int[] kernel = {Integer.parseInt(version[0]), Integer.parseInt(version[1])};
    return Arrays.compare(kernel, PINS_FOR_READING) < 0
        ? RegistrationMethod.READ_WRITE_MAPPING
        : RegistrationMethod.READ_ONLY_MAPPING;
  }
}
