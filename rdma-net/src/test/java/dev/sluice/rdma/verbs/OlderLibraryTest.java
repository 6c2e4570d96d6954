// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sluice.verbs.VerbsException;
import dev.sluice.verbs.ibv.IbvGidEntry;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** rdma-core before 32 lacks ibv_query_gid_ex(3): the kernel gives the same facts in files. */
class OlderLibraryTest extends FakeAdaptersTestCase {
  @BeforeEach
  void withoutQueryGidEx() throws Exception {
    adapters.set(0, "query_gid_ex_error", VerbsException.ENOSYS);
    adapters.set(1, "query_gid_ex_error", VerbsException.ENOSYS);
    adapters.gid(0, 1, IbvGidEntry.Type.ROCE_V2, "10.0.0.5");
    file("link_layer", "Ethernet");
    file("gid_attrs/types/0", "IB/RoCE v1");
    file("gid_attrs/types/1", "RoCE v2");
  }

  private void file(String name, String content) throws IOException {
    Path file = root.resolve("sys/class/infiniband/mlx5_0/ports/1").resolve(name);
    Files.createDirectories(file.getParent());
    Files.writeString(file, content + "\n");
  }

  @Test
  void theTypeOfAGidIsReadFromItsFile() throws Exception {
    assertThat(open().gid().toInetAddress().getHostAddress()).isEqualTo("10.0.0.5");
  }

  @Test
  void aPortOfOtherTypesIsRefusedWithThem() throws Exception {
    file("gid_attrs/types/1", "IB/RoCE v1");
    assertThatThrownBy(this::open)
        .hasMessageContaining("index 1 10.0.0.5 is RoCE v1 and not RoCE v2")
        .hasMessageContaining("mlx5_1:1 has no suitable GID: index 0 10.0.0.2 is of a type that");
  }

  @Test
  void anUnusedAdapterThatDoesNotCloseDoesNoHarm() throws Exception {
    adapters.set(1, "close_device_error", VerbsException.EBUSY);
    assertThat(open().name()).isEqualTo("mlx5_0");
  }
}
