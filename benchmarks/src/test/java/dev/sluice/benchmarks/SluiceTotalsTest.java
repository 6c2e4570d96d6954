// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.Test;

class SluiceTotalsTest {
  private static SluiceTotals totals(long remoteBytes) {
    return new SluiceTotals(
        "soft", remoteBytes, Map.of("read.bytes", 60L, "fallback.bytes.disabled", 40L));
  }

  private static SluiceTotals late(long readBytes, long lateBytes, long remoteBytes) {
    return new SluiceTotals(
        "soft",
        remoteBytes,
        Map.of(
            "read.bytes", readBytes, "fallback.bytes.LATE", lateBytes, "fallback.blocks.LATE", 2L));
  }

  @Test
  void totalsAreCompleteOnceTheyHaveAllBytesThatSparkCounted() {
    assertThat(totals(101).areComplete()).isFalse();
    assertThat(totals(100).areComplete()).isTrue();
  }

  @Test
  void aFewLateBytesAreNoProblem() {
    assertThat(late(95, 5, 100).problems()).isEmpty();
    assertThat(late(95, 5, 101).problems())
        .singleElement()
        .asString()
        .contains("95 bytes came by READ, and 5 as READs were late", "101");
  }

  @Test
  void manyLateBytesAreAProblemUnlessTheyAreExpected() {
    assertThat(late(94, 6, 100).problems())
        .singleElement()
        .asString()
        .contains("6 of 100 remote bytes", "READs were late");
    assertThat(late(94, 6, 100).problems(0.06)).isEmpty();
  }

  @Test
  void otherBlocksThatFellBackAreAProblem() {
    Map<String, Long> counters =
        Map.of("read.bytes", 100L, "fallback.blocks.LATE", 2L, "fallback.blocks.CHECKSUM", 1L);
    assertThat(new SluiceTotals("soft", 100, counters).problems())
        .singleElement()
        .asString()
        .contains("{CHECKSUM=1}");
  }

  @Test
  void bytesOfKilledTasksDoNotMakeTotalsIncomplete() {
    assertThat(totals(99).areComplete()).isTrue();
  }
}
