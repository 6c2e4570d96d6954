// SPDX-License-Identifier: Apache-2.0
package dev.sluice.doctor.peer;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.verbs.Gid;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LinkRateTest {
  private static final Gid GID = new Gid(0xfe80_0000_0000_0000L, 0x0200_00ff_fe00_0001L);
  private static final String GID_TEXT = "fe80:0000:0000:0000:0200:00ff:fe00:0001";

  @TempDir private Path root;

  /** Links a device from its class, as the kernel does. */
  private void device(String name, String place) throws IOException {
    Path device = root.resolve("sys/devices").resolve(place).resolve("infiniband").resolve(name);
    Files.createDirectories(device.resolve("ports"));
    Path link = root.resolve("sys/class/infiniband").resolve(name);
    Files.createDirectories(link.getParent());
    Files.createSymbolicLink(link, device);
  }

  private void port(String device, int number, String rate, String gid) throws IOException {
    Path port = root.resolve("sys/class/infiniband").resolve(device).resolve("ports/" + number);
    Files.createDirectories(port.resolve("gids"));
    Files.writeString(port.resolve("rate"), rate + "\n");
    Files.writeString(port.resolve("gids/0"), gid + "\n");
  }

  private LinkRate rate(String device) {
    return LinkRate.of(root, device, GID);
  }

  @Test
  void theRateIsThatOfThePortWithTheGid() throws Exception {
    device("mlx5_0", "pci0000:00/0000:00:01.0");
    port("mlx5_0", 1, "25 Gb/sec (1X EDR)", "fe80:0000:0000:0000:0000:0000:0000:0009");
    port("mlx5_0", 2, "100 Gb/sec (4X EDR)", GID_TEXT);
    assertThat(rate("mlx5_0")).isEqualTo(new LinkRate(12.5e9, ""));
  }

  @Test
  void devicesInSoftwareHaveNoRateToJudgeBy() throws Exception {
    device("rxe0", "virtual");
    port("rxe0", 1, "2.5 Gb/sec (1X SDR)", GID_TEXT);
    assertThat(rate("rxe0").unknown()).contains("rxe0 is a software device");
    device("rxe1", "pci0000:00/0000:00:02.0");
    Files.writeString(root.resolve("sys/class/infiniband/rxe1/parent"), "eth0");
    assertThat(rate("rxe1").unknown()).contains("rxe1 is a software device");
  }

  @Test
  void aMissingRateIsReported() throws Exception {
    assertThat(rate("mlx5_9").unknown()).contains("does not report the rate of mlx5_9");
    device("mlx5_0", "pci0000:00/0000:00:01.0");
    port("mlx5_0", 1, "unknown", GID_TEXT);
    assertThat(rate("mlx5_0").unknown()).contains("does not report the rate of mlx5_0");
  }

  @Test
  void theSlowerOfTwoPortsCounts() {
    LinkRate fast = new LinkRate(12.5e9, "");
    LinkRate slow = new LinkRate(3.125e9, "");
    LinkRate none = LinkRate.unknown("software");
    assertThat(fast.slower(slow)).isEqualTo(slow);
    assertThat(slow.slower(fast)).isEqualTo(slow);
    assertThat(fast.slower(none)).isEqualTo(none);
    assertThat(none.slower(fast)).isEqualTo(none);
  }
}
