// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.contract;

import static dev.sluice.verbs.VerbsException.EBUSY;
import static dev.sluice.verbs.VerbsException.EINVAL;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.rdma.CompletionQueue;
import dev.sluice.rdma.Device;
import dev.sluice.rdma.DeviceAttributes;
import dev.sluice.rdma.ProtectionDomain;
import dev.sluice.rdma.QueuePair;
import dev.sluice.rdma.TestNode;
import dev.sluice.verbs.Gid;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Devices, their limits and their children. */
public abstract class DeviceContract extends RdmaProviderContract {

  @Test
  void deviceDescribesItself() {
    assertThat(left.device.providerName()).isEqualTo(provider().name());
    assertThat(left.device.name()).isNotBlank();
    assertThat(left.device.gid()).isNotEqualTo(new Gid(0, 0));
  }

  @Test
  void limitsSufficeForSluice() {
    DeviceAttributes limits = left.device.attributes();
    assertThat(limits.maxQueuePairs()).isGreaterThanOrEqualTo(1000);
    assertThat(limits.maxQueuePairWr()).isGreaterThanOrEqualTo(1000);
    assertThat(limits.maxCompletionQueueEntries()).isGreaterThanOrEqualTo(10_000);
    assertThat(limits.maxMessageSize()).isGreaterThanOrEqualTo(8 << 20);
    assertThat(limits.maxQueuePairRdAtomic()).isPositive();
    assertThat(limits.maxQueuePairInitRdAtomic()).isPositive();
  }

  @Test
  void closingTwiceDoesNothing() throws Exception {
    Device device = openDevice();
    device.close();
    device.close();
  }

  @Test
  void closingTheDeviceClosesItsChildren() throws Exception {
    TestNode node = new TestNode(openDevice());
    node.register(4096, TestNode.ALL);
    node.createQueuePair();
    node.device.createCompletionQueue(16, null);
    node.device.allocateProtectionDomain();
    node.close();
    // A check after every test ensures that nothing is left open.
  }

  @Test
  void closedDeviceHasNoMoreChildren() throws Exception {
    Device device = openDevice();
    device.close();
    assertErrno(EINVAL, device::allocateProtectionDomain);
  }

  @Test
  void childrenCloseTwice() throws Exception {
    ProtectionDomain domain = left.device.allocateProtectionDomain();
    CompletionQueue queue = left.device.createCompletionQueue(1, left.channel);
    QueuePair queuePair = domain.createQueuePair(queue, TestNode.DEPTH);
    for (int i = 0; i < 2; i++) {
      queuePair.close();
      queue.close();
      domain.close();
    }
  }

  @Test
  void hasManyProtectionDomains() throws Exception {
    List<ProtectionDomain> domains = new ArrayList<>();
    for (int i = 0; i < 32; i++) {
      domains.add(left.device.allocateProtectionDomain());
    }
    assertThat(domains).doesNotHaveDuplicates().allMatch(domain -> domain.device() == left.device);
  }

  @Test
  void protectionDomainClosesItsQueuePairsAndRegions() throws Exception {
    ProtectionDomain domain = left.device.allocateProtectionDomain();
    CompletionQueue queue = left.device.createCompletionQueue(16, null);
    domain.createQueuePair(queue, TestNode.DEPTH);
    domain.register(left.arena.allocate(4096), TestNode.ALL);
    domain.close();
    queue.close();
  }

  @Test
  void completionQueueHasTheRequestedSize() throws Exception {
    int max = left.device.attributes().maxCompletionQueueEntries();
    for (int entries : new int[] {1, max / 2, max}) {
      CompletionQueue queue = left.device.createCompletionQueue(entries, null);
      assertThat(queue.capacity()).isGreaterThanOrEqualTo(entries);
      queue.close();
    }
  }

  @Test
  void completionQueueBeyondTheLimitsIsRefused() {
    int max = left.device.attributes().maxCompletionQueueEntries();
    assertErrno(EINVAL, () -> left.device.createCompletionQueue(max + 1, null));
    assertErrno(EINVAL, () -> left.device.createCompletionQueue(0, null));
  }

  @Test
  void completionQueueInUseIsNotClosed() throws Exception {
    QueuePair queuePair = left.createQueuePair();
    assertErrno(EBUSY, left.cq::close);
    queuePair.close();
    left.cq.close();
  }

  @Test
  void deeperQueuePairThanTheLimitIsRefused() {
    int tooDeep = left.device.attributes().maxQueuePairWr() + 1;
    assertErrno(EINVAL, () -> left.pd.createQueuePair(left.cq, tooDeep));
    assertErrno(EINVAL, () -> left.pd.createQueuePair(left.cq, -1));
  }

  @Test
  void queuePairNumbersAreUniqueAndHave24Bits() throws Exception {
    List<Integer> numbers = new ArrayList<>();
    for (int i = 0; i < 100; i++) {
      numbers.add(left.createQueuePair().qpNumber());
    }
    assertThat(numbers).doesNotHaveDuplicates().allMatch(number -> number >>> 24 == 0);
  }

  @Test
  void completionQueueOfAnotherDeviceIsRefused() {
    assertErrno(EINVAL, () -> left.pd.createQueuePair(right.cq, TestNode.DEPTH));
  }
}
