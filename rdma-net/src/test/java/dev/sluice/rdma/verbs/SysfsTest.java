// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.verbs.NetDevice;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SysfsTest {
  @TempDir Path root;

  private void write(String file, String text) throws IOException {
    Path path = root.resolve(file);
    Files.createDirectories(path.getParent());
    Files.writeString(path, text);
  }

  private Sysfs sysfs() {
    return new Sysfs(root);
  }

  @Test
  void missingFilesMeanUnknownValues() {
    assertThat(sysfs().rate("mlx5_0", 1)).isEqualTo("rate unknown");
    assertThat(sysfs().trafficClass("mlx5_0", 1)).isEmpty();
    assertThat(sysfs().netDevices("mlx5_0", 1)).isEmpty();
    assertThat(sysfs().devices()).isEmpty();
  }

  @Test
  void aKernelWithoutRdmaHasNoClassOfItsDevices() throws Exception {
    assertThat(sysfs().isWithoutRdma()).as("sysfs is not mounted").isFalse();
    Files.createDirectories(root.resolve("sys/class/net"));
    assertThat(sysfs().isWithoutRdma()).isTrue();
    Files.createDirectories(root.resolve("sys/class/infiniband"));
    assertThat(sysfs().isWithoutRdma()).isFalse();
  }

  @Test
  void theRateIsThatOfThePort() throws Exception {
    write("sys/class/infiniband/mlx5_0/ports/2/rate", "100 Gb/sec (4X EDR)\n");
    assertThat(sysfs().rate("mlx5_0", 2)).isEqualTo("100 Gb/sec (4X EDR)");
  }

  @Test
  void thePortsTrafficClassGoesBeforeThatOfRdmaCm() throws Exception {
    write("sys/kernel/config/rdma_cm/mlx5_0/ports/1/default_roce_tos", "96\n");
    assertThat(sysfs().trafficClass("mlx5_0", 1)).hasValue(96);
    write("sys/class/infiniband/mlx5_0/tc/1/traffic_class", "Global tclass=104\n");
    assertThat(sysfs().trafficClass("mlx5_0", 1)).hasValue(104);
  }

  @Test
  void aTrafficClassThatWasNotSetIsEmpty() throws Exception {
    write("sys/kernel/config/rdma_cm/mlx5_0/ports/1/default_roce_tos", "0\n");
    write("sys/class/infiniband/mlx5_0/tc/1/traffic_class", "Global tclass=-1\n");
    assertThat(sysfs().trafficClass("mlx5_0", 1)).isEmpty();
  }

  @Test
  void netDevicesAreThoseOfThePort() throws Exception {
    write("sys/class/infiniband/mlx4_0/device/net/ib0/dev_port", "0\n");
    write("sys/class/infiniband/mlx4_0/device/net/ib1/dev_port", "1\n");
    write("sys/class/infiniband/mlx4_0/device/net/ib1/ifindex", "7\n");
    write(
        "sys/class/infiniband/mlx4_0/device/net/ib1/address",
        "80:00:02:08:fe:80:00:00:00:00:00:00:00:02:c9:03:00:31:78:f2\n");
    assertThat(sysfs().netDevices("mlx4_0", 2))
        .containsExactly(new NetDevice("ib1", 7, "80:00:02:08:fe:80"));
    assertThat(sysfs().devices()).containsExactly("mlx4_0");
  }

  @Test
  void aDeviceIsOnNoNumaNodeWhereFirmwareDoesNotSay() throws Exception {
    write("sys/class/infiniband/mlx5_0/device/numa_node", "1\n");
    write("sys/class/infiniband/mlx5_1/device/numa_node", "-1\n");
    assertThat(sysfs().numaNode("mlx5_0")).hasValue(1);
    assertThat(sysfs().numaNode("mlx5_1")).isEmpty();
    assertThat(sysfs().numaNode("mlx5_2")).isEmpty();
  }
}
