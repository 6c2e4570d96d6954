// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs.tools;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sluice.verbs.FakeAdapters;
import dev.sluice.verbs.OnFakeAdapters;
import dev.sluice.verbs.ibv.IbvGidEntry;
import java.io.IOException;
import java.net.NetworkInterface;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The GID that the tools choose if the user names none. */
@OnFakeAdapters
class LocalPortTest {
  private FakeAdapters adapters;

  @BeforeEach
  void netDeviceIsLoopback() throws Exception {
    adapters = FakeAdapters.reset();
    adapters.set(0, "ifindex", NetworkInterface.getByName("lo").getIndex());
  }

  @Test
  void gidsOfOtherNetworkNamespacesAreSkipped() throws Exception {
    adapters.gid(0, 2, IbvGidEntry.Type.ROCE_V2, "127.0.0.1");

    try (LocalPort port = new LocalPort("mlx5_0", 1, null, 0)) {
      assertThat(port.address(1, 0).gid()).hasToString("127.0.0.1");
    }
  }

  @Test
  void gidsOfOtherNetworkNamespacesAloneAreAnErrorThatNamesTheOption() throws Exception {
    assertThatThrownBy(() -> new LocalPort("mlx5_0", 1, null, 0))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("other network namespaces")
        .hasMessageContaining("--gid-index");
    new LocalPort("mlx5_0", 1, 0, 0).close();
  }
}
