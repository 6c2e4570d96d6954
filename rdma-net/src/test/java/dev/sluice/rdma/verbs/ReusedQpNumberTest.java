// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.rdma.MemoryRegion;
import dev.sluice.rdma.QueuePair;
import dev.sluice.rdma.ScatterGatherEntry;
import dev.sluice.rdma.SendWorkRequest;
import dev.sluice.rdma.TestNode;
import dev.sluice.rdma.WorkCompletionStatus;
import dev.sluice.rdma.WorkCompletions;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A device may give the number of a destroyed queue pair to the next one at once. */
class ReusedQpNumberTest extends FakeAdaptersTestCase {
  private static final int BYTES = 8;

  /** Runs before the devices are closed, which waits for the queue pair. */
  @AfterEach
  void letDestroyingEnd() throws Exception {
    adapters.set(0, "destroy_qp_hangs", 0);
  }

  @Test
  void completionsOfANewQueuePairOutliveTheFormerOneOfItsNumber() throws Exception {
    TestNode node = new TestNode(open(devices("mlx5_0")));
    QueuePair former = node.createQueuePair();
    adapters.set(0, "destroy_qp_hangs", 1);
    CompletableFuture<Void> closing = CompletableFuture.runAsync(former::close);
    await("it is destroyed", () -> adapters.get(0, "is_destroying_qp") == 1);

    adapters.set(0, "qp_number", former.qpNumber());
    QueuePair next = node.createQueuePair();
    adapters.set(0, "qp_number", 0);
    assertThat(next.qpNumber()).isEqualTo(former.qpNumber());
    TestNode.connect(next, node.createQueuePair(), TestNode.SHORT_TIMEOUT);
    read(node, next);

    adapters.set(0, "destroy_qp_hangs", 0);
    closing.get(30, TimeUnit.SECONDS);
    assertThat(node.await(1))
        .containsExactly(new TestNode.Completed(1, WorkCompletionStatus.SUCCESS, next.qpNumber()));
  }

  @Test
  void completionsOfADestroyedQueuePairAreNotThoseOfTheNextOne() throws Exception {
    TestNode node = new TestNode(open(devices("mlx5_0")));
    QueuePair former = node.createQueuePair();
    TestNode.connect(former, node.createQueuePair(), TestNode.SHORT_TIMEOUT);
    read(node, former);
    adapters.set(0, "destroy_qp_hangs", 1);
    CompletableFuture<Void> closing = CompletableFuture.runAsync(former::close);
    await("it is destroyed", () -> adapters.get(0, "is_destroying_qp") == 1);

    adapters.set(0, "qp_number", former.qpNumber());
    QueuePair next = node.createQueuePair();
    adapters.set(0, "qp_number", 0);
    adapters.set(0, "destroy_qp_hangs", 0);
    closing.get(30, TimeUnit.SECONDS);
    TestNode.connect(next, node.createQueuePair(), TestNode.SHORT_TIMEOUT);
    read(node, next);
    assertThat(node.await(1)).hasSize(1);
    assertThat(node.cq.poll(new WorkCompletions(1))).isZero();
  }

  private static void read(TestNode node, QueuePair queuePair) throws Exception {
    MemoryRegion region = node.register(2 * BYTES, TestNode.ALL);
    ScatterGatherEntry local = new ScatterGatherEntry(region.address(), BYTES, region.lkey());
    queuePair.postSend(
        List.of(new SendWorkRequest(1, local, region.address() + BYTES, region.rkey(), true)));
  }
}
