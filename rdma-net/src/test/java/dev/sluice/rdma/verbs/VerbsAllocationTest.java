// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import dev.sluice.rdma.MemoryRegion;
import dev.sluice.rdma.QueuePair;
import dev.sluice.rdma.ScatterGatherEntry;
import dev.sluice.rdma.SendWorkRequest;
import dev.sluice.rdma.TestNode;
import dev.sluice.rdma.WorkCompletionStatus;
import dev.sluice.rdma.WorkCompletions;
import dev.sluice.verbs.NeedsRdmaDevice;
import dev.sluice.verbs.RdmaDevices;
import dev.sluice.verbs.VerbsException;
import java.lang.management.ManagementFactory;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Once the JIT compiler has done its work, READs allocate nothing on a real device. */
@NeedsRdmaDevice
class VerbsAllocationTest {
  private static final int READS = 2000;
  private static final int MAX_ROUNDS = 200;
  private static final int BYTES = 64;

  private final ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
  private final WorkCompletions completions = new WorkCompletions(16);

  @Test
  void postingAndPollingReadsAllocatesNothing() throws Exception {
    VerbsProvider provider = new VerbsProvider(VerbsOptions.DEFAULT);
    try (TestNode node = new TestNode(provider.open(RdmaDevices.address().orElseThrow()))) {
      QueuePair reader = node.createQueuePair();
      TestNode.connect(reader, node.createQueuePair());
      MemoryRegion region = node.register(2 * BYTES, TestNode.ALL);
      List<SendWorkRequest> chain =
          List.of(
              new SendWorkRequest(
                  1,
                  new ScatterGatherEntry(region.address(), BYTES, region.lkey()),
                  region.address() + BYTES,
                  region.rkey(),
                  true));
      long allocated = -1;
      for (int round = 0; round < MAX_ROUNDS && allocated != 0; round++) {
        long before = threads.getCurrentThreadAllocatedBytes();
        read(reader, node, chain);
        allocated = threads.getCurrentThreadAllocatedBytes() - before;
      }
      assertThat(allocated).as("bytes allocated by %s READs", READS).isZero();
    }
  }

  private void read(QueuePair reader, TestNode node, List<SendWorkRequest> chain)
      throws VerbsException {
    for (int i = 0; i < READS; i++) {
      reader.postSend(chain);
      while (node.cq.poll(completions) == 0) {
        Thread.onSpinWait();
      }
      if (completions.status(0) != WorkCompletionStatus.SUCCESS) {
        throw new AssertionError(completions.status(0));
      }
    }
  }
}
