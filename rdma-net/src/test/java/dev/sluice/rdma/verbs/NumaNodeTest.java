// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A machine whose processors alternate between nodes 0 and 1, each with a device, and more. */
class NumaNodeTest {
  private static final List<String> DEVICES = List.of("mlx5_0", "mlx5_1", "mlx5_2");

  @TempDir Path root;

  @BeforeEach
  void newMachine() throws IOException {
    cpus(0, "0,2,4-5");
    cpus(1, "1,3,6-7");
    cpus(2, ""); // memory only
    write("sys/devices/system/node/has_cpu", "0-1");
    write("sys/class/infiniband/mlx5_0/device/numa_node", "0");
    write("sys/class/infiniband/mlx5_1/device/numa_node", "1");
    write("sys/class/infiniband/mlx5_2/device/numa_node", "-1");
  }

  private void cpus(int node, String list) throws IOException {
    write("sys/devices/system/node/node" + node + "/cpulist", list);
  }

  private void write(String file, String text) throws IOException {
    Path path = root.resolve(file);
    Files.createDirectories(path.getParent());
    Files.writeString(path, text + "\n");
  }

  private NumaNode allowed(String processors) throws IOException {
    write("proc/self/status", "Cpus_allowed:\tff\nCpus_allowed_list:\t" + processors);
    return new NumaNode(new Sysfs(root));
  }

  private static List<String> nearest(NumaNode node) {
    return node.nearest(DEVICES, name -> name);
  }

  @Test
  void aBoundProcessIsNearTheDevicesOfItsNode() throws Exception {
    NumaNode node = allowed("1,6-7");
    assertThat(nearest(node)).containsExactly("mlx5_1");
    assertThat(DEVICES.stream().map(node::words))
        .containsExactly(
            ", on NUMA node 0 (this process: node 1)",
            ", on NUMA node 1 like this process",
            ", on an unknown NUMA node (this process: node 1)");
  }

  @Test
  void anUnboundProcessIsEquallyNearToAllDevices() throws Exception {
    for (String all : List.of("0-7", "0-1", "0-255", "")) {
      assertThat(nearest(allowed(all))).as(all).isEqualTo(DEVICES);
      assertThat(allowed(all).words("mlx5_0")).isEmpty();
    }
  }

  /** Kubernetes may allow processors that could be added later. */
  @Test
  void processorsThatAreOfflineDoNotCount() throws Exception {
    assertThat(nearest(allowed("0,2,100-120"))).containsExactly("mlx5_0");
  }

  @Test
  void withOneNodeNoDeviceIsPreferred() throws Exception {
    cpus(1, "");
    assertThat(nearest(allowed("0,2,4-5"))).isEqualTo(DEVICES);
  }

  @Test
  void whereNoDeviceIsNearAllAre() throws Exception {
    assertThat(allowed("1").nearest(List.of("mlx5_0", "mlx5_2"), name -> name)).hasSize(2);
  }

  @Test
  void whereTheKernelHidesItNothingIsPreferred() throws Exception {
    assertThat(nearest(new NumaNode(new Sysfs(root.resolve("empty"))))).isEqualTo(DEVICES);
  }
}
