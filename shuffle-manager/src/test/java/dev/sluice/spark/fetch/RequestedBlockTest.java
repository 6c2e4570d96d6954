// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.fetch;

import static org.assertj.core.api.Assertions.assertThat;

import org.apache.spark.storage.BlockId;
import org.apache.spark.storage.ShuffleBlockBatchId;
import org.apache.spark.storage.ShuffleBlockChunkId;
import org.apache.spark.storage.ShuffleBlockId;
import org.apache.spark.storage.ShuffleDataBlockId;
import org.apache.spark.storage.ShuffleMergedBlockId;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RequestedBlockTest {
  @Test
  void parsesSparksNameOfABlock() {
    RequestedBlock block = parse(new ShuffleBlockId(4, 1L << 40, 9999));

    assertThat(block.shuffleId()).isEqualTo(4);
    assertThat(block.mapId()).isEqualTo(1L << 40);
    assertThat(block.startPartition()).isEqualTo(9999);
    assertThat(block.endPartition()).isEqualTo(10_000);
  }

  @Test
  void parsesSparksNameOfABatch() {
    RequestedBlock block = parse(new ShuffleBlockBatchId(4, 5, 6, 9));

    assertThat(block.startPartition()).isEqualTo(6);
    assertThat(block.endPartition()).isEqualTo(9);
  }

  @Test
  void leavesOtherKindsAlone() {
    assertThat(parse(new ShuffleBlockChunkId(1, 2, 3, 4))).isNull();
    assertThat(parse(new ShuffleMergedBlockId(1, 2, 3))).isNull();
    assertThat(parse(new ShuffleDataBlockId(1, 2, 3))).isNull();
  }

  @ParameterizedTest
  @ValueSource(strings = {"shuffle_1_2", "shuffle_1_2_3_4_5", "shuffle_1_2_3_3", "shuffle_1_2_-1"})
  void leavesNamesAloneThatNameNoPartitions(String name) {
    assertThat(RequestedBlock.parse(name)).isNull();
  }

  @Test
  void isClaimedOnce() {
    RequestedBlock block = RequestedBlock.parse("shuffle_1_2_3");

    assertThat(block.isPending()).isTrue();
    assertThat(block.claim()).isTrue();
    assertThat(block.claim()).isFalse();
    assertThat(block.isPending()).isFalse();
  }

  private static RequestedBlock parse(BlockId id) {
    return RequestedBlock.parse(id.name());
  }
}
