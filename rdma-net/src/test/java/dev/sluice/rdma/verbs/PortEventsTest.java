// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sluice.rdma.transfer.ReadException;
import dev.sluice.rdma.transfer.TransferCounter;
import dev.sluice.verbs.ibv.IbvAsyncEvent;
import dev.sluice.verbs.ibv.IbvGidEntry;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Effect of changes of the port on new connections. */
class PortEventsTest extends FakeAdaptersTestCase {
  private LoopbackEndpoint loopback;

  @BeforeEach
  void openEndpoint() throws Exception {
    loopback = new LoopbackEndpoint(open(VerbsOptions.DEFAULT, "10.0.0.1"));
  }

  @AfterEach
  void closeEndpoint() {
    loopback.close();
  }

  private boolean refusesToAccept() {
    try {
      loopback.accept("somebody");
      return false;
    } catch (Exception e) {
      return true;
    }
  }

  @Test
  void nothingIsConnectedWhileThePortIsDown() throws Exception {
    loopback.read().assertSucceeds();
    adapters.set(0, "state", 1);
    adapters.raise(0, IbvAsyncEvent.Type.PORT_ERR);
    await("it is known to be down", this::refusesToAccept);
    long created = adapters.get(0, "create_qp");

    loopback.read("far", loopback.rkey()).assertFails(ReadException.Cause.CONNECT, "port error");
    assertThatThrownBy(() -> loopback.accept("somebody")).hasMessageContaining("port error");
    assertThat(adapters.get(0, "create_qp")).isEqualTo(created);
    assertThat(loopback.endpoint.counters().get(TransferCounter.CIRCUIT_OPENINGS)).isZero();

    adapters.set(0, "state", 4);
    adapters.raise(0, IbvAsyncEvent.Type.PORT_ACTIVE);
    await("it is known to be up", () -> !refusesToAccept());
    loopback.read("far", loopback.rkey()).assertSucceeds();
  }

  /** This happens when addresses are deleted and added in another order. */
  @Test
  void aGidThatMovedIsTakenFromWhereItIs() throws Exception {
    loopback.read().assertSucceeds();
    assertThat(adapters.get(0, "sgid_index")).isZero();
    adapters.gid(0, 0, IbvGidEntry.Type.ROCE_V2, "10.0.0.8");
    adapters.gid(0, 3, IbvGidEntry.Type.ROCE_V2, "10.0.0.1");
    adapters.raise(0, IbvAsyncEvent.Type.GID_CHANGE);

    await(
        "it is taken",
        () -> {
          loopback.accept("somebody");
          return adapters.get(0, "sgid_index") == 3;
        });
    loopback.read("far", loopback.rkey()).assertSucceeds();
    assertThat(adapters.get(0, "sgid_index")).isEqualTo(3);
  }

  /** This happens when another subnet manager takes over. */
  @Test
  void peersAreToldTheLidOfToday() throws Exception {
    adapters.set(0, "lid", 9);
    adapters.raise(0, IbvAsyncEvent.Type.LID_CHANGE);
    await("it is told", () -> loopback.accept("somebody").lid() == 9);
  }

  @Test
  void aPortThatLostItsAddressesIsReported() throws Exception {
    adapters.gid(0, 0, IbvGidEntry.Type.ROCE_V2, "::");
    adapters.raise(0, IbvAsyncEvent.Type.GID_CHANGE);
    await("it is known", this::refusesToAccept);
    loopback.read("far", loopback.rkey()).assertFails(ReadException.Cause.CONNECT, "has no GID");

    adapters.gid(0, 1, IbvGidEntry.Type.ROCE_V2, "10.0.0.1");
    await("it is looked at again", () -> !refusesToAccept());
    loopback.read("far", loopback.rkey()).assertSucceeds();
  }
}
