package dev.sluice.rdma;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import dev.sluice.rdma.soft.SoftOptions;
import dev.sluice.rdma.verbs.VerbsOptions;
import dev.sluice.rdma.verbs.VerbsProvider;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ProvidersTest {
  private final InetAddress loopback = InetAddress.getLoopbackAddress();

  @TempDir Path directory;

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
    assumeThat(VerbsProvider.SYSFS_DEVICES).doesNotExist();
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
        .hasMessage("provider 'off' is none of auto, verbs, soft");
  }

  @Test
  void verbsWithoutADeviceIsAnErrorWithTheReason() {
    Path missing = directory.resolve("infiniband");
    assertThatThrownBy(() -> new VerbsProvider(missing, VerbsOptions.DEFAULT).open(loopback))
        .isInstanceOf(ProviderUnavailableException.class)
        .hasMessage("there is no RDMA device in " + missing);
  }

  @Test
  void verbsWithADeviceSaysThatTheBindingIsMissing() throws Exception {
    Files.createDirectory(directory.resolve("mlx5_0"));
    assertThatThrownBy(() -> new VerbsProvider(directory, VerbsOptions.DEFAULT).open(loopback))
        .isInstanceOf(ProviderUnavailableException.class)
        .hasMessage("this release has no verbs binding yet for mlx5_0");
  }
}
