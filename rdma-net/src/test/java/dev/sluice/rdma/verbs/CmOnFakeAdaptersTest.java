// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.rdma.log.LogCapture;
import dev.sluice.rdma.transfer.ReadException;
import dev.sluice.rdma.verbs.VerbsOptions.ConnectMode;
import dev.sluice.verbs.IpLiteral;
import dev.sluice.verbs.VerbsException;
import dev.sluice.verbs.ibv.IbvAsyncEvent;
import dev.sluice.verbs.ibv.IbvGidEntry;
import java.net.InetAddress;
import java.util.Arrays;
import org.apache.logging.log4j.Level;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Connects by rdma_cm in networks that no real machine of the tests has. */
class CmOnFakeAdaptersTest extends FakeAdaptersTestCase {
  private static final int EVENT_OF_A_LATER_RELEASE = 99;

  private static final int EADDRNOTAVAIL = 99;
  private static final InetAddress TODAY = IpLiteral.parse("10.0.0.8");

  private VerbsDevice device;
  private LoopbackEndpoint loopback;

  @BeforeEach
  void openEndpoint() throws Exception {
    VerbsOptions byCm = devices("mlx5_0").with(o -> o.connect = ConnectMode.CM);
    device = (VerbsDevice) open(byCm);
    loopback = new LoopbackEndpoint(device);
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

  /** An error would pause the thread of all connections. */
  @Test
  void anUnknownEventIsNotAnError() throws Exception {
    try (LogCapture warnings = new LogCapture(CmAgent.class, Level.WARN)) {
      adapters.raiseByCm(EVENT_OF_A_LATER_RELEASE);
      loopback.read().assertSucceeds();
      assertThat(warnings.messages()).isEmpty();
    }
  }

  @Test
  void anErrorOfTheChannelEndsNothing() throws Exception {
    loopback.read().assertSucceeds();
    adapters.set(0, "cm_error", VerbsException.ENOMEM);
    adapters.raiseByCm(EVENT_OF_A_LATER_RELEASE);
    await("it has come", () -> adapters.get(0, "cm_errors") == 1);
    loopback.read("another", loopback.rkey()).assertSucceeds();
  }

  @Test
  void newConnectionsAreMadeAtTheAddressOfToday() throws Exception {
    loopback.read().assertSucceeds();
    changeAddress();
    await("it is taken", () -> device.gid().toInetAddress().equals(TODAY));
    loopback.read("another", loopback.rkey()).assertSucceeds();
    loopback.read().assertSucceeds();
  }

  /** This happens while the network device is not up yet. */
  @Test
  void nothingIsConnectedUntilTheAddressOfTodayCanBeHad() throws Exception {
    adapters.set(0, "bind_error", EADDRNOTAVAIL);
    changeAddress();
    await("it is known", () -> !device.port().isUsable());
    loopback
        .read("another", loopback.rkey())
        .assertFails(ReadException.Cause.CONNECT, "rdma_bind_addr");

    adapters.set(0, "bind_error", 0);
    await("it is tried again", () -> device.port().isUsable());
    loopback.read("another", loopback.rkey()).assertSucceeds();
  }

  @Test
  void aDeviceThatTheThreadOfRdmaCmStillUsesStaysOpen() throws Exception {
    adapters.set(0, "cm_hangs", 1);
    adapters.raiseByCm(EVENT_OF_A_LATER_RELEASE);
    await("it hangs", () -> adapters.get(0, "is_hanging") == 1);
    Thread closing = Thread.ofPlatform().start(loopback.endpoint::close);
    await("it is waited for", () -> isIn(closing, CmAgent.class));
    closing.interrupt();
    closing.join();
    assertThat(adapters.get(0, "close_device")).isZero();
    adapters.set(0, "cm_hangs", 0);
  }

  private static boolean isIn(Thread thread, Class<?> type) {
    return Arrays.stream(thread.getStackTrace())
        .anyMatch(frame -> frame.getClassName().equals(type.getName()));
  }

  private void changeAddress() throws VerbsException {
    adapters.gid(0, 0, IbvGidEntry.Type.ROCE_V2, TODAY.getHostAddress());
    adapters.raise(0, IbvAsyncEvent.Type.GID_CHANGE);
  }
}
