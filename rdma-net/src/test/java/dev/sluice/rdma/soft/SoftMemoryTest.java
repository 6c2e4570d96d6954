// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.soft;

import static dev.sluice.rdma.WorkCompletionStatus.LOC_PROT_ERR;
import static dev.sluice.rdma.WorkCompletionStatus.REM_OP_ERR;
import static dev.sluice.rdma.WorkCompletionStatus.RETRY_EXC_ERR;
import static dev.sluice.rdma.WorkCompletionStatus.SUCCESS;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.rdma.AccessFlag;
import dev.sluice.rdma.ConnectionAttributes;
import dev.sluice.rdma.MemoryRegion;
import dev.sluice.rdma.QueuePair;
import dev.sluice.rdma.ScatterGatherEntry;
import dev.sluice.rdma.SendWorkRequest;
import dev.sluice.rdma.TestNode;
import dev.sluice.rdma.soft.SoftProvider.SoftOptions;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Memory that only the software provider copies itself: mappings that break, and large ones. */
class SoftMemoryTest extends SoftNodes {
  private static final int MIB = 1 << 20;

  @Test
  void readOfATruncatedMappingFailsAtTheInitiatorAndTheResponderLives() throws Exception {
    TestNode right = open(SoftOptions.DEFAULT);
    MemoryRegion target = left.register(4 * MIB, TestNode.ALL);
    try (Arena arena = Arena.ofShared();
        FileChannel file = newFile("data")) {
      MemorySegment mapping = file.map(MapMode.READ_WRITE, 0, 4 * MIB, arena);
      try (MemoryRegion source =
          right.pd.register(mapping.asReadOnly(), Collections.singleton(AccessFlag.REMOTE_READ))) {
        file.truncate(MIB);
        connect(right, ConnectionAttributes.DEFAULT)
            .postSend(List.of(read(1, target, source, 4 * MIB)));
        assertThat(await(1).getFirst()).isIn(REM_OP_ERR, RETRY_EXC_ERR);
      }
    }
    MemoryRegion whole = right.register(4 * MIB, TestNode.ALL);
    connect(right, ConnectionAttributes.DEFAULT).postSend(List.of(read(2, target, whole, 4 * MIB)));
    assertThat(await(1)).containsExactly(SUCCESS);
  }

  @Test
  void readIntoATruncatedMappingFailsAndTheInitiatorLives() throws Exception {
    TestNode right = open(SoftOptions.DEFAULT);
    MemoryRegion source = right.register(4 * MIB, TestNode.ALL);
    for (int bytes : new int[] {16, 4096, 4 * MIB}) {
      try (Arena arena = Arena.ofShared();
          FileChannel file = newFile("target" + bytes)) {
        MemorySegment mapping = file.map(MapMode.READ_WRITE, 0, 4 * MIB, arena);
        try (MemoryRegion target = left.pd.register(mapping, TestNode.ALL)) {
          file.truncate(0);
          connect(right, ConnectionAttributes.DEFAULT)
              .postSend(List.of(read(1, target, source, bytes)));
          assertThat(await(1)).doesNotContain(SUCCESS);
        }
      }
    }
    MemoryRegion target = left.register(64, TestNode.ALL);
    connect(right, ConnectionAttributes.DEFAULT).postSend(List.of(read(2, target, source, 64)));
    assertThat(await(1)).containsExactly(SUCCESS);
  }

  @Test
  void closedRegionIsNotFoundByTheKeyThatWasUsedLast() throws Exception {
    TestNode right = open(SoftOptions.DEFAULT);
    MemoryRegion source = right.register(64, TestNode.ALL);
    MemoryRegion target = left.register(64, TestNode.ALL);
    QueuePair queuePair = connect(right, ConnectionAttributes.DEFAULT);
    queuePair.postSend(List.of(read(1, target, source, 64)));
    assertThat(await(1)).containsExactly(SUCCESS);
    target.close();
    queuePair.postSend(List.of(read(2, target, source, 64)));
    assertThat(await(1)).containsExactly(LOC_PROT_ERR);
  }

  @Test
  void readsReachBeyondTwoGibibytesOfARegion() throws Exception {
    TestNode right = open(SoftOptions.DEFAULT);
    MemoryRegion target = left.register(64, TestNode.ALL);
    long length = (2L << 30) + 4096;
    try (Arena arena = Arena.ofShared();
        FileChannel file = newFile("sparse")) {
      MemorySegment mapping = file.map(MapMode.READ_WRITE, 0, length, arena);
      mapping.asSlice(length - 64).fill((byte) 9);
      try (MemoryRegion source = right.pd.register(mapping, TestNode.ALL)) {
        ScatterGatherEntry local = new ScatterGatherEntry(target.address(), 64, target.lkey());
        long end = source.address() + length;
        connect(right, ConnectionAttributes.DEFAULT)
            .postSend(List.of(new SendWorkRequest(1, local, end - 64, source.rkey(), true)));
        assertThat(await(1)).containsExactly(SUCCESS);
      }
    }
    assertThat(left.memory(target).toArray(ValueLayout.JAVA_BYTE)).containsOnly(9);
  }

  /** Covers frames that end just before, at and just after the end of one receive. */
  @ParameterizedTest
  @ValueSource(ints = {24, 4055, 4056, 4057, 65_495, 65_496, 65_497})
  void answersArriveWholeWhereverTheReceivedBytesEnd(int bytes) throws Exception {
    TestNode right = open(SoftOptions.DEFAULT);
    int count = TestNode.DEPTH;
    MemorySegment memory = right.arena.allocate((long) count * bytes, 8);
    for (long i = 0; i < memory.byteSize(); i++) {
      memory.set(ValueLayout.JAVA_BYTE, i, (byte) (i % 251));
    }
    MemoryRegion source = right.register(memory);
    MemoryRegion target = left.register(memory.byteSize(), TestNode.ALL);
    List<SendWorkRequest> reads = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      long offset = (long) i * bytes;
      reads.add(
          new SendWorkRequest(
              i,
              new ScatterGatherEntry(target.address() + offset, bytes, target.lkey()),
              source.address() + offset,
              source.rkey(),
              true));
    }
    connect(right, ConnectionAttributes.DEFAULT).postSend(reads);
    assertThat(await(count)).containsOnly(SUCCESS);
    assertThat(left.memory(target).mismatch(memory)).isEqualTo(-1);
  }
}
