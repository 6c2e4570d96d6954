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
  void bytesOfKilledTasksDoNotMakeTotalsIncomplete() {
    assertThat(totals(99).areComplete()).isTrue();
  }
}
