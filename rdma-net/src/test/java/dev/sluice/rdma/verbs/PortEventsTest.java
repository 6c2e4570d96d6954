package dev.sluice.rdma.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sluice.rdma.transfer.ReadException;
import dev.sluice.rdma.transfer.TransferCounter;
import dev.sluice.rdma.verbs.ibv.IbvEventType;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What becomes of new connections when the port changes. */
class PortEventsTest extends FakeAdaptersTestCase {
  private LoopbackEndpoint loopback;

  @BeforeEach
  void openEndpoint() throws Exception {
    loopback = new LoopbackEndpoint(open());
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
    adapters.raise(0, IbvEventType.PORT_ERR);
    await("it is known to be down", this::refusesToAccept);
    long created = adapters.get(0, "create_qp");

    loopback.read("far", loopback.rkey()).assertFails(ReadException.Cause.CONNECT, "port error");
    assertThatThrownBy(() -> loopback.accept("somebody")).hasMessageContaining("port error");
    assertThat(adapters.get(0, "create_qp")).isEqualTo(created);
    assertThat(loopback.endpoint.counters().get(TransferCounter.CIRCUIT_OPENINGS)).isZero();

    adapters.set(0, "state", 4);
    adapters.raise(0, IbvEventType.PORT_ACTIVE);
    await("it is known to be up", () -> !refusesToAccept());
    loopback.read("far", loopback.rkey()).assertSucceeds();
  }
}
