package dev.sluice.rdma.soft;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sluice.rdma.CompletionQueue;
import dev.sluice.rdma.Device;
import dev.sluice.rdma.DeviceAttributes;
import dev.sluice.rdma.Gid;
import dev.sluice.rdma.MemoryRegion;
import dev.sluice.rdma.ProtectionDomain;
import dev.sluice.rdma.QueuePair;
import dev.sluice.rdma.TestNode;
import dev.sluice.rdma.VerbsException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

/** Limits of a device, and where it listens. */
class SoftDeviceTest extends SoftNodes {
  @Test
  void limitsOfTheDeviceHold() throws Exception {
    DeviceAttributes tiny =
        DeviceAttributes.NONE.with(
            nic -> {
              nic.maxQueuePairs = 1;
              nic.maxQueuePairWr = 8;
              nic.maxCompletionQueues = 1;
              nic.maxCompletionQueueEntries = 16;
              nic.maxMemoryRegions = 1;
              nic.maxMemoryRegionSize = 4096;
              nic.maxProtectionDomains = 1;
              nic.maxQueuePairRdAtomic = 1;
              nic.maxQueuePairInitRdAtomic = 1;
              nic.maxMessageSize = 4096;
            });
    SoftOptions options =
        SoftOptions.DEFAULT.with(
            o -> {
              o.limits = tiny;
              o.leaks = leaks.tracker();
            });
    try (Device device = new SoftProvider(options).open(InetAddress.getLoopbackAddress())) {
      ProtectionDomain pd = device.allocateProtectionDomain();
      assertNoRoom(device::allocateProtectionDomain);
      CompletionQueue cq = device.createCompletionQueue(16, null);
      assertNoRoom(() -> device.createCompletionQueue(16, null));
      QueuePair queuePair = pd.createQueuePair(cq, 1);
      assertNoRoom(() -> pd.createQueuePair(cq, 1));
      MemoryRegion region = pd.register(left.arena.allocate(64), TestNode.ALL);
      assertNoRoom(() -> pd.register(left.arena.allocate(64), TestNode.ALL));
      queuePair.close();
      region.close();
      pd.createQueuePair(cq, 1);
      pd.register(left.arena.allocate(64), TestNode.ALL);
    }
  }

  private static void assertNoRoom(ThrowingCallable call) {
    assertThatThrownBy(call)
        .isInstanceOfSatisfying(
            VerbsException.class, e -> assertThat(e.errno()).isEqualTo(VerbsException.ENOMEM));
  }

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
          .hasMessageContainingAll("cannot listen on ", "ports " + port + " to " + port);
    }
  }

  @Test
  void listensEverywhereWhereTheAddressThatPeersUseIsTranslated() throws Exception {
    InetAddress translated = InetAddress.getByName("192.0.2.1");
    SoftOptions options = SoftOptions.DEFAULT.with(o -> o.leaks = leaks.tracker());
    try (Device device = new SoftProvider(options).open(translated)) {
      assertThat(device.gid()).isEqualTo(Gid.of(translated));
    }
  }
}
