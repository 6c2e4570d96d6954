// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.staging;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.BitSet;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class StageLanesTest {
  @ParameterizedTest
  @CsvSource({"4,2,1", "4,8,1", "4,8,2", "4,8,12", "24,8,1", "24,8,2", "24,4,12", "512,8,12"})
  void readsFromDiskTakeAtMostHalfOfTheMemory(int mebibytes, int threads, int directories) {
    StageLanes lanes = new StageLanes((long) mebibytes << 20, threads, directories);
    int[] most = lanes.maxReaders();
    assertThat(IntStream.of(most)).allMatch(readers -> readers >= 2);
    int[] cold = IntStream.rangeClosed(0, directories).map(lanes::cold).distinct().toArray();
    assertThat(IntStream.of(cold)).allMatch(lane -> lane > directories && lane < most.length);
    assertThat(IntStream.of(cold).map(lane -> most[lane]).sum())
        .isBetween(2, Math.max(2, mebibytes / 2));
  }

  @Test
  void theNumberOfThreadsDoesNotGrowWithThatOfDirectories() {
    for (int directories = 1; directories < 200; directories++) {
      StageLanes lanes = new StageLanes(16L << 30, 8, directories);
      int readers = IntStream.of(lanes.maxReaders()).sum();
      assertThat(lanes.threads()).isLessThanOrEqualTo(Math.min(readers, 64));
      for (int directory = 0; directory <= directories; directory++) {
        assertThat(lanes.hot(directory)).isBetween(0, lanes.cold(0) - 1);
        assertThat(lanes.cold(lanes.hot(directory))).isLessThan(lanes.maxReaders().length);
      }
    }
  }

  @Test
  void aColdLaneLeadsToTheHotLanesOfItsDirectories() {
    StageLanes lanes = new StageLanes(8 << 20, 4, 3);
    BitSet hanging = new BitSet();
    hanging.set(lanes.cold(0));
    lanes.addHotOf(hanging);
    assertThat(IntStream.range(0, 4).filter(hanging::get))
        .as("two cold lanes for three directories, and one for other files")
        .containsExactly(0, 2);
  }
}
