// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.verbs;

import static dev.sluice.rdma.WorkCompletionStatus.LOC_QP_OP_ERR;
import static dev.sluice.rdma.WorkCompletionStatus.RETRY_EXC_ERR;
import static dev.sluice.rdma.WorkCompletionStatus.SUCCESS;
import static dev.sluice.rdma.WorkCompletionStatus.WR_FLUSH_ERR;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sluice.rdma.ConnectionAttributes;
import dev.sluice.rdma.Device;
import dev.sluice.rdma.MemoryRegion;
import dev.sluice.rdma.QueuePair;
import dev.sluice.rdma.QueuePairState;
import dev.sluice.rdma.ScatterGatherEntry;
import dev.sluice.rdma.SendWorkRequest;
import dev.sluice.rdma.TestNode;
import dev.sluice.rdma.TestNode.Completed;
import dev.sluice.rdma.WorkCompletionStatus;
import dev.sluice.rdma.leak.LeakTracker;
import dev.sluice.verbs.Cable;
import dev.sluice.verbs.NeedsRdmaDevice;
import dev.sluice.verbs.ProviderUnavailableException;
import dev.sluice.verbs.VerbsException;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests the reports of queue pairs of two devices when the cable between them fails. */
@NeedsRdmaDevice
@Cable.Needed
class VerbsNetworkFaultTest {
  private static final int BYTES = 64 << 10;

  /** Gives up after about 2 s of unanswered repetitions. */
  private static final ConnectionAttributes PATIENT =
      TestNode.SHORT_TIMEOUT.with(
          c -> {
            c.timeoutExponent = 16;
            c.retryCount = 7;
          });

  private final LeakTracker leaks = new LeakTracker();
  private final Cable cable = new Cable();
  private TestNode left;
  private TestNode right;
  private MemoryRegion source;
  private MemoryRegion target;

  @BeforeEach
  void openDevices() throws Exception {
    left = new TestNode(open("=rxe0"));
    right = new TestNode(open("=rxe1"));
    MemorySegment memory = right.arena.allocate(BYTES, 4096);
    byte[] bytes = new byte[BYTES];
    new Random(1).nextBytes(bytes);
    MemorySegment.copy(bytes, 0, memory, ValueLayout.JAVA_BYTE, 0, BYTES);
    source = right.register(memory);
    target = left.register(BYTES, TestNode.ALL);
  }

  @AfterEach
  void closeDevices() throws Exception {
    cable.mend();
    left.close();
    right.close();
    assertThat(leaks.open()).isEmpty();
  }

  private Device open(String device) throws IOException {
    return new VerbsProvider(
            VerbsOptions.DEFAULT.with(
                o -> {
                  o.devices = DeviceFilter.parse(device);
                  o.leaks = leaks;
                }))
        .open(InetAddress.getLoopbackAddress());
  }

  private QueuePair connected(ConnectionAttributes attributes) throws VerbsException {
    QueuePair queuePair = left.createQueuePair();
    TestNode.connect(queuePair, right.createQueuePair(), attributes);
    return queuePair;
  }

  private SendWorkRequest read() {
    return new SendWorkRequest(
        1,
        new ScatterGatherEntry(target.address(), BYTES, target.lkey()),
        source.address(),
        source.rkey(),
        true);
  }

  private List<WorkCompletionStatus> await(int count) throws VerbsException {
    return left.await(count).stream().map(Completed::status).toList();
  }

  private void assertReadsWork(ConnectionAttributes attributes, int count) throws Exception {
    assertReadsWork(connected(attributes), count);
  }

  private void assertReadsWork(QueuePair queuePair, int count) throws Exception {
    left.memory(target).fill((byte) 0);
    queuePair.postSend(Collections.nCopies(count, read()));
    assertThat(await(count)).hasSize(count).containsOnly(SUCCESS);
    assertThat(left.memory(target).mismatch(right.memory(source))).isEqualTo(-1);
  }

  @Test
  void readsGoFromDeviceToDevice() throws Exception {
    assertReadsWork(ConnectionAttributes.DEFAULT, 100);
  }

  @Test
  void lostPacketsAreSentAgainWithoutAnError() throws Exception {
    // The kernel gives ARP 1 s for RTR, in which it asks once. This one packet must not be lost.
    QueuePair queuePair = connected(PATIENT);
    cable.lose(2);
    assertReadsWork(queuePair, 20);
  }

  @Test
  void anOutageShorterThanTheRetriesOnlyDelays() throws Exception {
    QueuePair queuePair = connected(ConnectionAttributes.DEFAULT);
    cable.lose(100);
    queuePair.postSend(Collections.nCopies(4, read()));
    cable.mend();
    assertThat(await(4)).containsOnly(SUCCESS);
  }

  @Test
  void aSilentNetworkIsNoticedAfterTheRetries() throws Exception {
    QueuePair queuePair = connected(TestNode.SHORT_TIMEOUT);
    cable.lose(100);
    queuePair.postSend(Collections.nCopies(4, read()));
    assertThat(await(4)).containsExactly(RETRY_EXC_ERR, WR_FLUSH_ERR, WR_FLUSH_ERR, WR_FLUSH_ERR);
    assertThat(queuePair.state()).isEqualTo(QueuePairState.ERROR);
    cable.mend();
    assertReadsWork(TestNode.SHORT_TIMEOUT, 4);
  }

  @Test
  void aCutCableFailsRequestsUntilItIsMended() throws Exception {
    QueuePair busy = connected(TestNode.SHORT_TIMEOUT);
    QueuePair idle = connected(TestNode.SHORT_TIMEOUT);
    busy.postSend(List.of(read()));
    assertThat(await(1)).containsOnly(SUCCESS);
    cable.suffer(Cable.Fault.CUT);
    busy.postSend(Collections.nCopies(4, read()));
    List<WorkCompletionStatus> statuses = await(4);
    // Hardware repeats the request in vain. soft-RoCE finds no route, and flushes even the first.
    assertThat(statuses.getFirst()).isIn(RETRY_EXC_ERR, LOC_QP_OP_ERR, WR_FLUSH_ERR);
    assertThat(busy.state()).isEqualTo(QueuePairState.ERROR);
    assertThat(statuses.subList(1, 4)).containsOnly(WR_FLUSH_ERR);
    cable.mend();
    idle.postSend(List.of(read()));
    assertThat(await(1)).containsOnly(SUCCESS);
    assertReadsWork(TestNode.SHORT_TIMEOUT, 4);
  }

  @Test
  void aPortThatIsDownIsNotOpened() throws Exception {
    cable.suffer(Cable.Fault.CUT);
    assertThatThrownBy(() -> open("=rxe0"))
        .isInstanceOf(ProviderUnavailableException.class)
        .hasMessageContaining("rxe0:1 is DOWN and not ACTIVE");
  }
}
