// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.Test;

class SluiceTotalsTest {
  private final SluiceTotals totals =
      new SluiceTotals("soft", Map.of("read.bytes", 60L, "fallback.bytes.disabled", 40L));

  @Test
  void totalsAreCompleteOnceTheyHaveAllBytesThatSparkCounted() {
    assertThat(totals.areComplete(101)).isFalse();
    assertThat(totals.areComplete(100)).isTrue();
  }

  @Test
  void bytesOfKilledTasksDoNotMakeTotalsIncomplete() {
    assertThat(totals.areComplete(99)).isTrue();
  }
}
