// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.transfer;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.rdma.WorkCompletionStatus;
import dev.sluice.rdma.transfer.EngineHarness.TestRead;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;

/** Common part of the read engine's tests: each read must end with exactly one answer. */
abstract class ReadEngineTestCase {
  EngineHarness harness = new EngineHarness();
  final List<TestRead> all = new ArrayList<>();

  @AfterEach
  void everythingIsAnsweredOnceAndGivenBack() {
    harness.engine.close();
    all.forEach(read -> assertThat(read.answers).hasSize(1));
    assertThat(harness.device.queuePairs).allMatch(ScriptedQueuePair::isClosed);
    assertThat(harness.released).hasSize(harness.device.queuePairs.size());
    assertThat(harness.count(TransferCounter.QUEUE_PAIRS_CLOSED))
        .isEqualTo(harness.count(TransferCounter.QUEUE_PAIRS_CREATED));
    if (harness.count(TransferCounter.BUFFERS_GIVEN_UP) == 0) {
      assertThat(harness.buffers.bytesInUse()).isZero();
    }
    harness.buffers.close();
  }

  TestRead read(String peer, int... lengths) {
    TestRead read = harness.read(peer, lengths);
    all.add(read);
    return read;
  }

  TestRead readWithin(long deadlineMs, String peer, int... lengths) {
    TestRead read = harness.readWithin(deadlineMs, peer, lengths);
    all.add(read);
    return read;
  }

  void use(TransferOptions options, int completionQueueCapacity) {
    harness.buffers.close();
    harness = new EngineHarness(options, completionQueueCapacity);
  }

  ScriptedQueuePair queuePair(int index) {
    return harness.device.queuePairs.get(index);
  }

  /** Fails one read twice. The breaker opens after three failures. */
  void failTransport(String peer) {
    TestRead read = read(peer, 1);
    harness.run();
    for (int attempt = 0; attempt < 2 && read.answers.isEmpty(); attempt++) {
      harness.device.last().fail(WorkCompletionStatus.RETRY_EXC_ERR);
      harness.run();
    }
    assertThat(read.answers).hasSize(1);
  }
}
