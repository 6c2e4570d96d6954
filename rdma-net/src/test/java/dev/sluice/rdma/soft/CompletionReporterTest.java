// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.soft;

import static dev.sluice.rdma.WorkCompletionStatus.SUCCESS;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.rdma.ScatterGatherEntry;
import dev.sluice.rdma.SendWorkRequest;
import dev.sluice.rdma.TestNode;
import dev.sluice.rdma.TestNode.Completed;
import dev.sluice.rdma.WorkCompletions;
import dev.sluice.rdma.leak.LeakCheck;
import dev.sluice.rdma.soft.Initiator.PendingSend;
import dev.sluice.rdma.soft.SoftProvider.SoftOptions;
import java.io.IOException;
import java.net.InetAddress;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class CompletionReporterTest {
  @RegisterExtension final LeakCheck leaks = new LeakCheck();

  private final WorkCompletions batch = new WorkCompletions(16);
  private TestNode node;
  private SoftQueuePair queuePair;

  @BeforeEach
  void open() throws IOException {
    SoftOptions options = SoftOptions.DEFAULT.with(o -> o.leaks = leaks.tracker());
    node = new TestNode(new SoftProvider(options).open(InetAddress.getLoopbackAddress()));
    queuePair = (SoftQueuePair) node.createQueuePair();
  }

  @AfterEach
  void close() {
    node.close();
  }

  private void completeSend(long wrId, boolean signaled) {
    ScatterGatherEntry nothing = new ScatterGatherEntry(0, 0, 0);
    SendWorkRequest request = new SendWorkRequest(wrId, nothing, 0, 0, signaled);
    queuePair.completeSend(new PendingSend(request), SUCCESS);
  }

  @Test
  void completionsUnderTheLockAreReportedTogetherAtItsRelease() throws Exception {
    node.cq.requestNotify();
    queuePair.lock();
    try {
      completeSend(1, true);
      completeSend(2, false);
      completeSend(3, true);
      assertThat(node.cq.poll(batch)).isZero();
      assertThat(node.channel.await(0)).isFalse();
    } finally {
      queuePair.unlock();
    }
    assertThat(node.channel.await(0)).isTrue();
    assertThat(node.await(2)).extracting(Completed::wrId).containsExactly(1L, 3L);
    assertThat(node.channel.await(0)).as("one event for all").isFalse();
  }
}
