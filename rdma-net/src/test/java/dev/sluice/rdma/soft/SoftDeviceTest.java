// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.soft;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sluice.rdma.Device;
import dev.sluice.rdma.FewThreads;
import dev.sluice.rdma.QueuePair;
import dev.sluice.rdma.TestNode;
import dev.sluice.rdma.leak.LeakTracker;
import dev.sluice.rdma.soft.SoftProvider.SoftOptions;
import dev.sluice.verbs.Gid;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

/** Tests listening and closing. */
class SoftDeviceTest extends SoftNodes {
  @Test
  void listensOnThePortThatIsAskedForOrOneAboveIt() throws Exception {
    try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      int port = taken.getLocalPort();
      TestNode right =
          open(
              SoftOptions.DEFAULT.with(
                  o -> {
                    o.port = port;
                    o.portRetries = 50;
                  }));
      QueuePair queuePair = right.createQueuePair();
      queuePair.toInit(TestNode.ALL);
      assertThat(SoftAddress.of(queuePair.address()).port()).isBetween(port + 1, port + 50);
    }
  }

  @Test
  void portsThatAreAllTakenAreAnErrorThatNamesThem() throws Exception {
    try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      int port = taken.getLocalPort();
      SoftOptions options =
          SoftOptions.DEFAULT.with(
              o -> {
                o.port = port;
                o.leaks = leaks.tracker();
              });
      assertThatThrownBy(() -> new SoftProvider(options).open(InetAddress.getLoopbackAddress()))
          .isInstanceOf(IOException.class)
          .hasMessageContainingAll(
              "cannot listen on ", "binding a port of " + port + " to " + port + " failed");
    }
  }

  @Test
  void aDeviceWhoseThreadsCannotBeStartedLeavesNothingOpen() {
    SoftOptions options = SoftOptions.DEFAULT.with(o -> o.leaks = new LeakTracker());
    assertThatThrownBy(
            () -> new SoftDevice(InetAddress.getLoopbackAddress(), options, new FewThreads(1)))
        .isInstanceOf(OutOfMemoryError.class);
    assertThat(options.leaks().open()).isEmpty();
  }

  @Test
  void listensEverywhereWhereTheAddressThatPeersUseIsTranslated() throws Exception {
    InetAddress translated = InetAddress.getByName("192.0.2.1");
    SoftOptions options = SoftOptions.DEFAULT.with(o -> o.leaks = leaks.tracker());
    try (Device device = new SoftProvider(options).open(translated)) {
      assertThat(device.gid()).isEqualTo(Gid.of(translated));
    }
  }

  /** A child that can be neither closed nor named. */
  private static final class BrokenChild implements AutoCloseable {
    @Override
    public void close() {
      throw new IllegalStateException("thrown by a test");
    }

    @Override
    public String toString() {
      throw new LinkageError("thrown by a test");
    }
  }

  @Test
  void closingAChildThatCannotBeNamedDoesNotKeepTheOthersOpen() throws Exception {
    AtomicBoolean closed = new AtomicBoolean();
    SoftDevice device = (SoftDevice) left.device;
    device.<AutoCloseable>adopt(() -> () -> closed.set(true));
    device.adopt(BrokenChild::new);
    device.close();
    assertThat(closed).isTrue();
  }
}
