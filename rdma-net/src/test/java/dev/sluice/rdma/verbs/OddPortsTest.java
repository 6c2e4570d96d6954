// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sluice.verbs.ProviderUnavailableException;
import dev.sluice.verbs.VerbsException;
import dev.sluice.verbs.ibv.IbvDeviceList;
import dev.sluice.verbs.ibv.IbvGidEntry;
import org.junit.jupiter.api.Test;

/** A port with unusual attributes is reported, and does not prevent the use of the others. */
class OddPortsTest extends FakeAdaptersTestCase {
  private void assertRefusesTheFirst(String reason) throws Exception {
    assertThat(open().name()).isEqualTo("mlx5_1");
    assertThatThrownBy(() -> open(devices("mlx5_0")))
        .isInstanceOf(ProviderUnavailableException.class)
        .hasMessageContaining("mlx5_0:1 " + reason);
  }

  /** mlx5 leaves a port without a network device like this. */
  @Test
  void withoutAnMtu() throws Exception {
    adapters.set(0, "active_mtu", 0);
    assertRefusesTheFirst("has an unknown active MTU, code 0");
  }

  @Test
  void withoutAnMtuAndDown() throws Exception {
    adapters.set(0, "active_mtu", 0);
    adapters.set(0, "state", 1);
    assertRefusesTheFirst("is DOWN and not ACTIVE");
  }

  @Test
  void aPortInAnUnknownStateIsRefused() throws Exception {
    adapters.set(0, "state", 9);
    assertRefusesTheFirst("is 9 and not ACTIVE");
  }

  @Test
  void withALinkOfALaterRelease() throws Exception {
    adapters.set(0, "link_layer", 7);
    assertRefusesTheFirst("has the unknown link layer 7");
  }

  @Test
  void aPortThatCannotBeQueriedIsRefused() throws Exception {
    adapters.set(0, "query_port_error", VerbsException.EINVAL);
    assertRefusesTheFirst("cannot be read: ibv_query_port");
  }

  @Test
  void aGidThatCannotBeReadIsSkipped() throws Exception {
    adapters.gid(0, 1, IbvGidEntry.Type.ROCE_V2, "10.0.0.7");
    adapters.set(0, "first_gid", 1);
    assertThat(open().gid().toInetAddress().getHostAddress()).isEqualTo("10.0.0.7");
  }

  @Test
  void aPartitionKeyThatCannotBeReadIsSkipped() throws Exception {
    adapters.set(0, "first_pkey", 1);
    try (LoopbackEndpoint loopback = new LoopbackEndpoint(open())) {
      loopback.read().assertSucceeds();
    }
    assertThat(adapters.get(0, "pkey_index")).isEqualTo(2);
  }

  @Test
  void withATableThatCannotBeRead() throws Exception {
    adapters.set(0, "first_gid", 4);
    assertRefusesTheFirst("cannot be read: ibv_query_gid");
    adapters.set(0, "first_gid", 0);
    adapters.set(0, "first_pkey", 4);
    assertRefusesTheFirst("cannot be read: ibv_query_pkey");
  }

  @Test
  void devicesAreClosedWhenAnErrorEndsTheChoice() throws Exception {
    try (IbvDeviceList list = IbvDeviceList.get()) {
      assertThatThrownBy(() -> new OpenPorts(list.devices(), VerbsOptions.DEFAULT.devices(), null))
          .isInstanceOf(NullPointerException.class);
    }
    assertThat(adapters.get(0, "open_device")).isEqualTo(1);
    assertThat(adapters.get(0, "close_device")).isEqualTo(1);
  }

  @Test
  void excludedDevicesAreNotOpened() throws Exception {
    adapters.set(0, "open_device_error", VerbsException.EIO);
    assertThat(open(devices("^mlx5_0")).name()).isEqualTo("mlx5_1");
    assertThat(adapters.get(0, "open_device")).isZero();
    assertThatThrownBy(() -> open(devices("mlx5_0:2,rxe")))
        .isInstanceOf(ProviderUnavailableException.class)
        .hasMessageContaining("mlx5_1 is not among the devices \"mlx5_0:2,rxe\"");
    assertThatThrownBy(() -> open(devices("mlx5_1:2")))
        .hasMessageContaining("mlx5_1:1 is not among the devices \"mlx5_1:2\"");
  }

  @Test
  void aGidOfAnUnknownTypeIsSkipped() throws Exception {
    adapters.gid(0, 1, IbvGidEntry.Type.ROCE_V2, "10.0.0.7");
    adapters.set(0, "gid_type_of_0", 9);
    assertThat(open().gid().toInetAddress().getHostAddress()).isEqualTo("10.0.0.7");
  }
}
