// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.soft;

import static dev.sluice.rdma.WorkCompletionStatus.REM_OP_ERR;
import static dev.sluice.rdma.WorkCompletionStatus.RETRY_EXC_ERR;
import static dev.sluice.rdma.WorkCompletionStatus.SUCCESS;
import static dev.sluice.rdma.WorkCompletionStatus.WR_FLUSH_ERR;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.rdma.ConnectionAttributes;
import dev.sluice.rdma.MemoryRegion;
import dev.sluice.rdma.QueuePair;
import dev.sluice.rdma.TestNode;
import dev.sluice.rdma.TestNode.Completed;
import dev.sluice.rdma.WorkCompletions;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Collections;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Planned faults, and their effect on a requester. */
class SoftFaultsTest extends SoftNodes {
  private static final int MIB = 1 << 20;

  @Test
  void initiatorSeesThePlannedStatus() throws Exception {
    TestNode right = faulty("status@2:REM_OP_ERR");
    MemoryRegion source = right.register(64, TestNode.ALL);
    connect(right, ConnectionAttributes.DEFAULT)
        .postSend(Collections.nCopies(4, read(1, left.register(64, TestNode.ALL), source, 64)));
    assertThat(await(4)).containsExactly(SUCCESS, REM_OP_ERR, WR_FLUSH_ERR, WR_FLUSH_ERR);
  }

  @Test
  void plannedKillCutsTheConnectionAndAFreshQueuePairWorks() throws Exception {
    TestNode right = faulty("kill@2");
    MemoryRegion source = right.register(64, TestNode.ALL);
    MemoryRegion target = left.register(64, TestNode.ALL);
    QueuePair queuePair = connect(right, ConnectionAttributes.DEFAULT);
    queuePair.postSend(List.of(read(1, target, source, 64)));
    assertThat(await(1)).containsExactly(SUCCESS);
    queuePair.postSend(Collections.nCopies(2, read(1, target, source, 64)));
    assertThat(await(2)).containsExactly(RETRY_EXC_ERR, WR_FLUSH_ERR);
    connect(right, ConnectionAttributes.DEFAULT).postSend(List.of(read(1, target, source, 64)));
    assertThat(await(1)).containsExactly(SUCCESS);
  }

  @Test
  void plannedCorruptionChangesOneByteAndNotTheSource() throws Exception {
    TestNode right = faulty("minLength=1000;corrupt@1");
    MemoryRegion source = right.register(MIB, TestNode.ALL);
    MemoryRegion target = left.register(MIB, TestNode.ALL);
    QueuePair queuePair = connect(right, ConnectionAttributes.DEFAULT);
    queuePair.postSend(List.of(read(1, target, source, 999)));
    assertThat(await(1)).containsExactly(SUCCESS);
    assertThat(changedBytes(left.memory(target))).isZero();
    queuePair.postSend(List.of(read(2, target, source, MIB)));
    assertThat(await(1)).containsExactly(SUCCESS);
    assertThat(changedBytes(left.memory(target))).isEqualTo(1);
    assertThat(changedBytes(right.memory(source))).isZero();
  }

  private static long changedBytes(MemorySegment memory) {
    return memory
        .elements(ValueLayout.JAVA_BYTE)
        .filter(e -> e.get(ValueLayout.JAVA_BYTE, 0) != 0)
        .count();
  }

  @Test
  void plannedDelayHoldsTheAnswerBackAndKeepsTheOrder() throws Exception {
    TestNode right = faulty("delay@1:50");
    MemoryRegion source = right.register(64, TestNode.ALL);
    MemoryRegion target = left.register(64, TestNode.ALL);
    connect(right, ConnectionAttributes.DEFAULT)
        .postSend(List.of(read(1, target, source, 64), read(2, target, source, 64)));
    assertThat(left.await(2)).extracting(Completed::wrId).containsExactly(1L, 2L);
  }

  @Test
  void answerThatIsHeldBackForTooLongIsAsGoodAsLost() throws Exception {
    TestNode right = faulty("delay@1:600000");
    MemoryRegion source = right.register(64, TestNode.ALL);
    connect(right, TestNode.SHORT_TIMEOUT)
        .postSend(Collections.nCopies(2, read(1, left.register(64, TestNode.ALL), source, 64)));
    assertThat(await(2)).containsExactly(RETRY_EXC_ERR, WR_FLUSH_ERR);
  }

  @Test
  void everyReadIsAnsweredOnceAndRightWhateverFails() throws Exception {
    TestNode right =
        faulty("seed=11;kill=0.02;status=0.02:REM_OP_ERR;delay=0.05:1;status=0.01:REM_ACCESS_ERR");
    int bytes = 300_000;
    MemorySegment memory = right.arena.allocate(bytes);
    memory.fill((byte) 77);
    MemoryRegion source = right.register(memory);
    int succeeded = 0;
    for (int round = 0; round < 60; round++) {
      MemoryRegion target = left.register(bytes, TestNode.ALL);
      QueuePair queuePair = connect(right, ConnectionAttributes.DEFAULT);
      queuePair.postSend(
          IntStream.range(0, 20).mapToObj(i -> read(i, target, source, bytes)).toList());
      List<Completed> completed = left.await(20);
      assertThat(completed).extracting(Completed::wrId).isSorted().doesNotHaveDuplicates();
      if (completed.getFirst().status() == SUCCESS) {
        succeeded++;
        assertThat(left.memory(target).mismatch(memory)).isEqualTo(-1);
      }
      queuePair.close();
      target.close();
    }
    assertThat(succeeded).isPositive();
    assertThat(left.cq.poll(new WorkCompletions(1))).isZero();
  }
}
