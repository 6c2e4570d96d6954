// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.management.ThreadMXBean;
import dev.sluice.rdma.CompletionQueue;
import dev.sluice.rdma.Device;
import dev.sluice.rdma.MemoryRegion;
import dev.sluice.rdma.QueuePair;
import dev.sluice.rdma.ScatterGatherEntry;
import dev.sluice.rdma.SendWorkRequest;
import dev.sluice.rdma.TestNode;
import dev.sluice.rdma.WorkCompletionStatus;
import dev.sluice.rdma.WorkCompletions;
import dev.sluice.rdma.leak.LeakCheck;
import dev.sluice.rdma.providers.Providers;
import dev.sluice.rdma.soft.SoftProvider.SoftOptions;
import dev.sluice.verbs.Gid;
import dev.sluice.verbs.NeedsRdmaDevice;
import dev.sluice.verbs.ProviderUnavailableException;
import dev.sluice.verbs.RdmaDevices;
import dev.sluice.verbs.VerbsException;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests specific to the verbs provider, on a device of this machine. */
@NeedsRdmaDevice
class VerbsProviderTest {
  private static final int BYTES = 4096;
  private static final long DEADLINE_SECONDS = 30;

  @RegisterExtension final LeakCheck leaks = new LeakCheck();

  private Device open(VerbsOptions options, InetAddress address) throws IOException {
    return new VerbsProvider(options.with(o -> o.leaks = leaks.tracker())).open(address);
  }

  private TestNode node() throws IOException {
    return new TestNode(open(VerbsOptions.DEFAULT, RdmaDevices.addresses().getFirst()));
  }

  @Test
  void autoTakesVerbs() throws Exception {
    InetAddress address = RdmaDevices.addresses().getFirst();
    try (Device device =
        Providers.open("auto", address, VerbsOptions.DEFAULT, SoftOptions.DEFAULT)) {
      assertThat(device.providerName()).isEqualTo("verbs");
    }
  }

  @Test
  void theDeviceWithTheLocalAddressIsOpened() throws Exception {
    for (InetAddress address : RdmaDevices.addresses()) {
      try (Device device = open(VerbsOptions.DEFAULT, address)) {
        assertThat(device.gid()).isEqualTo(Gid.of(address));
      }
    }
  }

  @Test
  void devicesThatAreNotAllowedAreNamed() {
    VerbsOptions options = VerbsOptions.DEFAULT.with(o -> o.devices = DeviceFilter.parse("mlx99_"));
    assertThatThrownBy(() -> open(options, InetAddress.getLoopbackAddress()))
        .isInstanceOf(ProviderUnavailableException.class)
        .hasMessageContaining(" is not among the devices \"mlx99_\"");
  }

  @Test
  void readingAllocatesNothingOnceItIsWarm() throws Exception {
    try (TestNode node = node()) {
      QueuePair queuePair = connected(node);
      List<SendWorkRequest> chain = List.of(read(node), read(node), read(node), read(node));
      WorkCompletions batch = new WorkCompletions(16);
      ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
      long least = Long.MAX_VALUE;
      // The interpreter and the first compilers allocate for a time that Sluice does not control.
      for (int round = 0; round < 200 && least > 0; round++) {
        long before = threads.getCurrentThreadAllocatedBytes();
        for (int i = 0; i < 100; i++) {
          queuePair.postSend(chain);
          poll(node.cq, batch, chain.size());
        }
        least = Math.min(least, threads.getCurrentThreadAllocatedBytes() - before);
      }
      assertThat(least).as("bytes allocated by 400 READs").isZero();
    }
  }

  private static void poll(CompletionQueue queue, WorkCompletions batch, int count)
      throws VerbsException {
    for (int polled = 0; polled < count; ) {
      int now = queue.poll(batch);
      for (int i = 0; i < now; i++) {
        if (batch.status(i) != WorkCompletionStatus.SUCCESS) {
          throw new AssertionError(batch.status(i));
        }
      }
      polled += now;
    }
  }

  @Test
  void pollingAFailedDeviceReportsTheReason() throws Exception {
    try (TestNode node = node()) {
      ((VerbsDevice) node.device).fail("local catastrophic error");

      assertThatThrownBy(() -> node.cq.poll(new WorkCompletions(1)))
          .isInstanceOf(VerbsException.class)
          .hasMessageContainingAll("local catastrophic error", "errno " + VerbsException.EIO);
    }
  }

  /** The object that is closed while another thread uses it. */
  enum Closed {
    QUEUE_PAIR,
    MEMORY,
    DEVICE
  }

  @ParameterizedTest
  @EnumSource
  void closingUnderAThreadThatReadsEndsItWithAnErrorOnly(Closed what) throws Exception {
    for (int round = 0; round < 5; round++) {
      try (TestNode node = node()) {
        QueuePair queuePair = connected(node);
        SendWorkRequest read = read(node);
        CompletableFuture<Long> posted = new CompletableFuture<>();
        CompletableFuture<Void> reader =
            CompletableFuture.runAsync(() -> readUntilItFails(node.cq, queuePair, read, posted));
        posted.get(DEADLINE_SECONDS, TimeUnit.SECONDS);
        switch (what) {
          case QUEUE_PAIR -> queuePair.close();
          case MEMORY -> node.pd.close();
          case DEVICE -> node.device.close();
        }
        reader.get(DEADLINE_SECONDS, TimeUnit.SECONDS);
      }
    }
  }

  private static void readUntilItFails(
      CompletionQueue queue,
      QueuePair queuePair,
      SendWorkRequest read,
      CompletableFuture<Long> go) {
    WorkCompletions batch = new WorkCompletions(16);
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(DEADLINE_SECONDS);
    try {
      while (System.nanoTime() < deadline) {
        queuePair.postSend(List.of(read));
        queue.poll(batch);
        go.complete(0L);
      }
    } catch (VerbsException e) {
      assertThat(e.errno()).isIn(VerbsException.EINVAL, VerbsException.EIO, VerbsException.ENOMEM);
      go.complete(0L);
    }
  }

  private static SendWorkRequest read(TestNode node) throws VerbsException {
    MemoryRegion source = node.register(BYTES, TestNode.ALL);
    MemoryRegion target = node.register(BYTES, TestNode.ALL);
    return new SendWorkRequest(
        1,
        new ScatterGatherEntry(target.address(), BYTES, target.lkey()),
        source.address(),
        source.rkey(),
        true);
  }

  private static QueuePair connected(TestNode node) throws VerbsException {
    QueuePair queuePair = node.createQueuePair();
    TestNode.connect(queuePair, node.createQueuePair());
    return queuePair;
  }
}
