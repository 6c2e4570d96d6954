// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.conf;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CgroupTest {
  @TempDir private Path root;

  @Test
  void findsTheLimitOfVersion2OnTheWayUp() throws IOException {
    write("proc/self/cgroup", "0::/yarn/container_1\n");
    write("sys/fs/cgroup/yarn/container_1/memory.max", "max\n");
    write("sys/fs/cgroup/yarn/memory.max", "4294967296\n");
    assertThat(new Cgroup(root).memoryMax()).hasValue(4L << 30);
  }

  @Test
  void findsTheLimitOfVersion1() throws IOException {
    write("proc/self/cgroup", "12:cpu,cpuacct:/x\n5:memory:/pod\n");
    write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
    assertThat(new Cgroup(root).memoryMax()).isEmpty();
    write("sys/fs/cgroup/memory/pod/memory.limit_in_bytes", "2147483648\n");
    assertThat(new Cgroup(root).memoryMax()).hasValue(2L << 30);
  }

  @Test
  void findsTheContainersOwnLimitWhereThePathIsTheHosts() throws IOException {
    write("proc/self/cgroup", "0::/kubepods/pod42/abc\n");
    write("sys/fs/cgroup/memory.max", "1073741824\n");
    assertThat(new Cgroup(root).memoryMax()).hasValue(1L << 30);
  }

  @Test
  void hasNoLimitWhereNoneIsSet() throws IOException {
    assertThat(new Cgroup(root).memoryMax()).isEmpty();
    write("proc/self/cgroup", "0::/\n");
    write("sys/fs/cgroup/memory.max", "max\n");
    assertThat(new Cgroup(root).memoryMax()).isEmpty();
  }

  @Test
  void findsTheRemainingDeviceLimits() throws IOException {
    write("proc/self/cgroup", "0::/pod\n");
    write("sys/fs/cgroup/pod/rdma.max", "mlx5_0 hca_handle=2 hca_object=2000\n");
    assertThat(new Cgroup(root).rdmaMax()).containsExactly("mlx5_0 hca_handle=2 hca_object=2000");
  }

  private void write(String file, String text) throws IOException {
    Path path = root.resolve(file);
    Files.createDirectories(path.getParent());
    Files.writeString(path, text);
  }
}
