// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.driver;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.spark.driver.DriverRuntime.DecisionTimes;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class DecisionTimesTest {
  /** A tenth is left for the way of the report and of its answer. */
  @ParameterizedTest
  @ValueSource(longs = {100, 1_000, 2_000, 5_000, 7_500, 10_000, 600_000})
  void theDecisionIsMadeWhileTheExecutorWaits(long executorMs) {
    DecisionTimes times = DecisionTimes.within(executorMs);
    assertThat(times.checkMs() + times.connectMs() + times.lastTryMs())
        .isLessThanOrEqualTo(executorMs * 9 / 10);
    assertThat(times.checkMs()).isPositive();
    assertThat(times.connectMs()).isPositive();
    assertThat(times.lastTryMs()).isPositive();
  }

  @Test
  void aLongWaitMakesNeitherConnectionNorLastTryLonger() {
    assertThat(DecisionTimes.within(10_000)).isEqualTo(new DecisionTimes(6_000, 1_000, 2_000));
    assertThat(DecisionTimes.within(60_000)).isEqualTo(new DecisionTimes(36_000, 1_000, 2_000));
  }
}
