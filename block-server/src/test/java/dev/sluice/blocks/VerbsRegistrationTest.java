package dev.sluice.blocks;

import static org.junit.jupiter.api.Assumptions.abort;

import dev.sluice.rdma.Device;
import dev.sluice.rdma.ProviderUnavailableException;
import dev.sluice.rdma.Providers;
import dev.sluice.rdma.soft.SoftOptions;
import java.io.IOException;
import java.net.InetAddress;
import java.util.Arrays;

/** Skipped, with the reason, where there is no RDMA device. */
class VerbsRegistrationTest extends RegistrationContract {
  private static final int[] PINS_FOR_READING = {6, 2};

  @Override
  Device openDevice() throws IOException {
    try {
      return Providers.open("verbs", InetAddress.getLocalHost(), SoftOptions.DEFAULT);
    } catch (ProviderUnavailableException e) {
      return abort(e.getMessage());
    }
  }

  @Override
  RegistrationForm best() {
    String[] version = System.getProperty("os.version").split("[^0-9]+");
    int[] kernel = {Integer.parseInt(version[0]), Integer.parseInt(version[1])};
    return Arrays.compare(kernel, PINS_FOR_READING) < 0
        ? RegistrationForm.READ_WRITE_MAPPING
        : RegistrationForm.READ_ONLY_MAPPING;
  }
}
