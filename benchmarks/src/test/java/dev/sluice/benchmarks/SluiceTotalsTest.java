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

  @Test
  void totalsAreCompleteOnceTheyHaveAllBytesThatSparkCounted() {
    assertThat(totals(101).areComplete()).isFalse();
    assertThat(totals(100).areComplete()).isTrue();
  }

  @Test
  void blocksThatWereLateAreNoProblem() {
    Map<String, Long> late =
        Map.of("read.bytes", 60L, "fallback.bytes.LATE", 40L, "fallback.blocks.LATE", 2L);
    assertThat(new SluiceTotals("soft", 100, late).problems()).isEmpty();
    assertThat(new SluiceTotals("soft", 101, late).problems())
        .singleElement()
        .asString()
        .contains("60 bytes came by READ, and 40 as READs were late", "101");
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
