// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.fetch;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import org.apache.spark.storage.BlockId;
import org.apache.spark.storage.BlockManagerId;
import org.apache.spark.storage.ShuffleBlockBatchId;
import org.apache.spark.storage.ShuffleBlockId;
import org.apache.spark.storage.ShuffleMergedBlockId;
import org.junit.jupiter.api.Test;
import scala.Option;
import scala.Tuple3;

/** Choice of the blocks for batch fetches. */
class ExecutorBlocksTest {
  private static final BlockManagerId EXECUTOR =
      BlockManagerId.apply("7", "host", 99, Option.empty());

  private final List<Tuple3<BlockId, Object, Object>> blocks = new ArrayList<>();
  private boolean batch;

  private void block(BlockId id, long bytes) {
    blocks.add(new Tuple3<>(id, bytes, blocks.size()));
  }

  private void block(long mapId, int partition) {
    block(new ShuffleBlockId(3, mapId, partition), 1000);
  }

  private ExecutorBlocks group() {
    return ExecutorBlocks.of(new BlocksByAddress(EXECUTOR, blocks), false, batch);
  }

  private void assertNotGathered() {
    assertThat(group()).isNull();
  }

  @Test
  void smallBlocksAreGathered() {
    block(10, 4);
    block(11, 4);
    ExecutorBlocks group = group();
    assertThat(group.address()).isEqualTo(EXECUTOR);
    assertThat(group.shuffleId()).isEqualTo(3);
    assertThat(group.mapIds()).containsExactly(10, 11);
    assertThat(group.startPartition(1)).isEqualTo(4);
    assertThat(group.endPartition(1)).isEqualTo(5);
    assertThat(group.mapIndex(1)).isEqualTo(1);
    assertThat(group.isLocal()).isFalse();
  }

  @Test
  void partitionsOfAMapOutputAreOneBlockWhereSparkFetchesInBatches() {
    batch = true;
    block(10, 4);
    block(10, 5);
    block(10, 7);
    block(11, 4);
    block(new ShuffleBlockBatchId(3, 11, 5, 9), 1000);
    ExecutorBlocks group = group();
    assertThat(group.mapIds()).containsExactly(10, 11);
    assertThat(group.startPartition(0)).isEqualTo(4);
    assertThat(group.endPartition(0)).isEqualTo(8);
    assertThat(group.endPartition(1)).isEqualTo(9);
    assertThat(group.mapIndex(1)).isEqualTo(3);
  }

  @Test
  void withoutBatchesEachPartitionIsABlock() {
    block(10, 4);
    block(10, 5);
    assertThat(group().mapIds()).containsExactly(10, 10);
  }

  @Test
  void blocksThatAreLeftAreThoseOfTheTracker() {
    batch = true;
    block(10, 4);
    block(10, 5);
    block(11, 4);
    block(12, 4);
    ExecutorBlocks group = group();
    group.leave(BitSet.valueOf(new long[] {0b1}));
    group.leave(BitSet.valueOf(new long[] {0b100}));
    group.leave(BitSet.valueOf(new long[] {0b1}));
    assertThat(group.takeLeft(false).blocks())
        .containsExactly(blocks.get(0), blocks.get(1), blocks.get(3));
    assertThat(group.hasLeft()).isFalse();
    group.leave(BitSet.valueOf(new long[] {0b1}));
    assertThat(group.hasLeft()).as("Spark has the block already").isFalse();
    group.leave(BitSet.valueOf(new long[] {0b11}));
    assertThat(group.hasLeft()).isTrue();
    assertThat(group.takeLeft(false).blocks()).containsExactly(blocks.get(2));
  }

  @Test
  void lateBlocksAreTakenApartFromOthers() {
    block(10, 4);
    block(11, 4);
    block(12, 4);
    ExecutorBlocks group = group();
    group.leaveLate(BitSet.valueOf(new long[] {0b10}));
    group.leave(BitSet.valueOf(new long[] {0b1}));
    assertThat(group.leftBytes(true)).isEqualTo(group.leftBytes(false)).isPositive();

    assertThat(group.takeLeft(true).blocks()).containsExactly(blocks.get(1));
    assertThat(group.leftBytes(true)).isZero();
    assertThat(group.hasLeft()).isTrue();
    assertThat(group.takeLeft(false).blocks()).containsExactly(blocks.get(0));
    assertThat(group.hasLeft()).isFalse();

    group.leave(BitSet.valueOf(new long[] {0b100}));
    assertThat(group.leftBytes(true)).as("it was not late").isZero();
    assertThat(group.takeLeft(false).blocks()).containsExactly(blocks.get(2));
  }

  @Test
  void aSingleBlockIsAGroup() {
    block(10, 4);
    assertThat(group().mapIds()).containsExactly(10);
  }

  @Test
  void noBlocksAreNoGroup() {
    assertNotGathered();
  }

  @Test
  void blocksOfAnotherKindAreNotGathered() {
    block(10, 4);
    block(new ShuffleMergedBlockId(3, 0, 4), 1000);
    assertNotGathered();
  }

  @Test
  void sizesThatSparkRefusesAreSparks() {
    block(10, 4);
    block(new ShuffleBlockId(3, 11, 4), 0);
    assertNotGathered();
  }
}
