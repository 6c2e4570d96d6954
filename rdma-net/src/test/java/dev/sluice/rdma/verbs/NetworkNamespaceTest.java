// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sluice.rdma.log.LogCapture;
import dev.sluice.verbs.ProviderUnavailableException;
import dev.sluice.verbs.VerbsException;
import dev.sluice.verbs.ibv.IbvGidEntry;
import java.io.IOException;
import java.net.NetworkInterface;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.logging.log4j.Level;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Simulates a process in its own network namespace, such as a pod, that nevertheless sees the
 * adapters of its host. The network devices of their GIDs have indices and names that other network
 * devices have here. The only such device that surely exists is lo.
 */
class NetworkNamespaceTest extends FakeAdaptersTestCase {
  private static final String POD = "127.0.0.1";
  private static final int NOT_HERE = 7777;

  private int lo;

  @BeforeEach
  void findLo() throws IOException {
    lo = NetworkInterface.getByName("lo").getIndex();
  }

  private void netDevices(int first, int second) throws VerbsException {
    adapters.set(0, "ifindex", first);
    adapters.set(1, "ifindex", second);
  }

  /** Otherwise two pods of a node might take adapters of different networks by chance. */
  @Test
  void gidsOfTheHostAreRefusedForAnyIndexOfTheirNetDevices() throws Exception {
    for (int[] indices : new int[][] {{lo, NOT_HERE}, {NOT_HERE, lo}}) {
      netDevices(indices[0], indices[1]);
      assertThatThrownBy(() -> open(VerbsOptions.DEFAULT, POD))
          .isInstanceOf(ProviderUnavailableException.class)
          .hasMessageContaining("mlx5_0:1 has no suitable GID: index 0 10.0.0.1 is of another")
          .hasMessageContaining("mlx5_1:1 has no suitable GID: index 0 10.0.0.2 is of another");
    }
  }

  @Test
  void aGidOfThisNetworkNamespaceIsTaken() throws Exception {
    netDevices(lo, lo);
    adapters.gid(1, 2, IbvGidEntry.Type.ROCE_V2, POD);
    assertThat(open(VerbsOptions.DEFAULT, POD).name()).isEqualTo("mlx5_1");
    assertThat(open(VerbsOptions.DEFAULT, "10.9.9.9").name()).isEqualTo("mlx5_1");
  }

  /** Two pods in separate networks may have the same address. */
  @Test
  void theSameAddressInAnotherNetworkNamespaceIsAnother() throws Exception {
    netDevices(NOT_HERE, lo);
    adapters.gid(0, 2, IbvGidEntry.Type.ROCE_V2, POD);
    adapters.gid(1, 2, IbvGidEntry.Type.ROCE_V2, POD);
    assertThat(open(VerbsOptions.DEFAULT, POD).name()).isEqualTo("mlx5_1");
  }

  @Test
  void aGidOfTheHostIsTakenOnRequestAndReported() throws Exception {
    netDevices(NOT_HERE, NOT_HERE);
    VerbsOptions device = devices("mlx5_1").with(o -> o.spreads = true);
    VerbsOptions index = VerbsOptions.DEFAULT.with(o -> o.gid = o.gid.at(0));
    try (LogCapture log = new LogCapture(VerbsProvider.class, Level.WARN)) {
      assertThat(open(device, POD).name()).isEqualTo("mlx5_1");
      assertThat(open(index, POD).name()).isEqualTo("mlx5_0");
      assertThat(log.messages())
          .hasSize(2)
          .allMatch(line -> line.contains("it is of another network namespace"));
    }
  }

  /** This happens with rdma-core before 32. */
  @Test
  void theNetDeviceIsKnownByItsNameWhereTheLibraryDoesNotNumberIt() throws Exception {
    netDevice(0, "lo");
    netDevice(1, "lo");
    adapters.gid(1, 0, IbvGidEntry.Type.ROCE_V2, POD);
    assertThat(open(VerbsOptions.DEFAULT, "10.9.9.9").name()).isEqualTo("mlx5_1");
  }

  private void netDevice(int adapter, String name) throws Exception {
    adapters.set(adapter, "query_gid_ex_error", VerbsException.EOPNOTSUPP);
    Path port = root.resolve("sys/class/infiniband/mlx5_" + adapter + "/ports/1/gid_attrs");
    Files.createDirectories(port.resolve("types"));
    Files.createDirectories(port.resolve("ndevs"));
    Files.writeString(port.resolve("types/0"), "RoCE v2\n");
    Files.writeString(port.resolve("ndevs/0"), name + "\n");
  }

  /** A container may have the host's sysfs, but its lo is not the host's. */
  @Test
  void aNetDeviceOfTheAdapterIsNotTheOneHereThatHasItsName() throws Exception {
    Path net = root.resolve("sys/class/infiniband/mlx5_1/device/net/lo");
    Files.createDirectories(net);
    Files.writeString(net.resolve("ifindex"), lo + "\n");
    Files.writeString(net.resolve("address"), "02:00:00:00:00:01\n");
    assertThat(open(VerbsOptions.DEFAULT, POD).name()).isEqualTo("mlx5_0");
    Files.writeString(net.resolve("address"), "00:00:00:00:00:00\n");
    assertThat(open(VerbsOptions.DEFAULT, POD).name()).isEqualTo("mlx5_1");
  }
}
