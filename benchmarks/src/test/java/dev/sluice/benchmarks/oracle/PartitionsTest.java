package dev.sluice.benchmarks.oracle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class PartitionsTest {
  @Test
  void aBlockIsOnePartition() {
    assertThat(Partitions.parse("shuffle_1_20_3")).isEqualTo(new Partitions(1, 20, 3, 4));
  }

  @Test
  void aBatchIsAsManyAsItSays() {
    assertThat(Partitions.parse("shuffle_1_20_3_7")).isEqualTo(new Partitions(1, 20, 3, 7));
  }

  @Test
  void otherBlocksAreRefused() {
    for (String block : new String[] {"rdd_1_2", "shuffle_1_2", "shuffleChunk_1_2_3_4"}) {
      assertThatThrownBy(() -> Partitions.parse(block))
          .isInstanceOf(IllegalArgumentException.class);
    }
  }
}
