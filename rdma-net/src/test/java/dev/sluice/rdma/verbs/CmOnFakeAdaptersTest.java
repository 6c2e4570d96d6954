package dev.sluice.rdma.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.rdma.VerbsException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Connections by rdma_cm in networks that no machine of ours has. */
class CmOnFakeAdaptersTest extends FakeAdaptersTestCase {
  private static final int EVENT_OF_A_LATER_RELEASE = 99;

  private LoopbackEndpoint loopback;

  @BeforeEach
  void openEndpoint() throws Exception {
    VerbsOptions byCm = devices("mlx5_0").with(o -> o.connect = ConnectMode.CM);
    loopback = new LoopbackEndpoint(open(byCm));
  }

  @AfterEach
  void closeEndpoint() {
    loopback.close();
  }

  @Test
  void queuePairsAreInThePartitionOfThePath() throws Exception {
    adapters.set(0, "path_pkey_index", 2);
    loopback.read().assertSucceeds();
    assertThat(adapters.get(0, "rtr_without_partition")).isZero();
    assertThat(adapters.get(0, "pkey_index")).isEqualTo(2);
  }

  @Test
  void anEventThatIsNotKnownEndsNothing() throws Exception {
    adapters.raiseByCm(EVENT_OF_A_LATER_RELEASE);
    loopback.read().assertSucceeds();
    adapters.raiseByCm(EVENT_OF_A_LATER_RELEASE);
    loopback.read("another", loopback.rkey()).assertSucceeds();
  }

  @Test
  void anErrorOfTheChannelEndsNothing() throws Exception {
    loopback.read().assertSucceeds();
    adapters.set(0, "cm_error", VerbsException.ENOMEM);
    adapters.raiseByCm(EVENT_OF_A_LATER_RELEASE);
    await("it has come", () -> adapters.get(0, "cm_errors") == 1);
    loopback.read("another", loopback.rkey()).assertSucceeds();
  }
}
