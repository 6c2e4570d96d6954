// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.rdma.Device;
import dev.sluice.verbs.FakeAdapters;
import dev.sluice.verbs.IpLiteral;
import dev.sluice.verbs.OnFakeAdapters;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/** Gives each test new simulated adapters, and closes the devices that it opened. */
@OnFakeAdapters
abstract class FakeAdaptersTestCase {
  private static final long DEADLINE_SECONDS = 30;

  @TempDir Path root;

  FakeAdapters adapters;
  private final List<Device> devices = new ArrayList<>();

  @BeforeEach
  void newAdapters() throws IOException {
    adapters = FakeAdapters.reset();
    Files.createDirectories(root.resolve("sys/class/infiniband/mlx5_0"));
    Files.createDirectories(root.resolve("sys/class/infiniband/mlx5_1"));
  }

  @AfterEach
  void closeDevices() {
    devices.forEach(Device::close);
  }

  Device open() throws IOException {
    return open(VerbsOptions.DEFAULT);
  }

  Device open(VerbsOptions options) throws IOException {
    return open(options, "10.9.9.9");
  }

  Device open(VerbsOptions options, String localAddress) throws IOException {
    Device device = new VerbsProvider(options, root).open(IpLiteral.parse(localAddress));
    devices.add(device);
    return device;
  }

  static VerbsOptions devices(String filter) {
    return VerbsOptions.DEFAULT.with(o -> o.devices = DeviceFilter.parse(filter));
  }

  static void await(String what, Callable<Boolean> condition) throws Exception {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(DEADLINE_SECONDS);
    while (!condition.call()) {
      assertThat(System.nanoTime()).as("waiting: " + what).isLessThan(deadline);
      Thread.sleep(5);
    }
  }
}
