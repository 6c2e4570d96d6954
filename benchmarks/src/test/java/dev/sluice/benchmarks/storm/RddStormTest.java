// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks.storm;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.testkit.Sums;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import scala.Tuple2;

class RddStormTest {
  @Test
  void everyPartitionGetsABlocksWorthOfRecords() {
    List<Tuple2<Integer, byte[]>> records = records(1, 3, 1_000);
    assertThat(records.stream().collect(Collectors.groupingBy(Tuple2::_1, Collectors.counting())))
        .hasSize(3)
        .allSatisfy((_, count) -> assertThat(count).isEqualTo(10));
    assertThat(records(1, 3, 1 << 20)).hasSize(3 * 16);
    assertThat(records(1, 3, 50)).hasSize(3).allMatch(record -> record._2().length == 50);
  }

  @Test
  void theSumsTellOtherRecordsButNotAnotherOrder() {
    List<Tuple2<Integer, byte[]>> records = records(1, 3, 200);
    Sums sums = sums(records);
    Collections.reverse(records);
    assertThat(sums(records)).isEqualTo(sums);

    records.getFirst()._2()[17]++;
    assertThat(sums(records)).isNotEqualTo(sums);
    assertThat(sums(records(2, 3, 200))).isNotEqualTo(sums);
  }

  private static List<Tuple2<Integer, byte[]>> records(int task, int partitions, int blockBytes) {
    List<Tuple2<Integer, byte[]>> records = new ArrayList<>();
    RddStorm.records(task, partitions, blockBytes).forEachRemaining(records::add);
    return records;
  }

  private static Sums sums(List<Tuple2<Integer, byte[]>> records) {
    return Sums.of(List.of(RddStorm.sums(records.iterator()).next()));
  }
}
