// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class RateLimitedLogTest {
  private static final long MINUTE = TimeUnit.MINUTES.toNanos(1);
  private final RateLimitedLog ofKeys = new RateLimitedLog(Duration.ofMinutes(10), 2);

  @Test
  void areLoggedAtOnceAndThenOnceAMinuteWithTheirNumber() {
    RateLimitedLog warnings = new RateLimitedLog();
    assertThat(warnings.add(5)).isEqualTo(1);
    assertThat(warnings.add(6)).isZero();
    assertThat(warnings.add(4 + MINUTE)).isZero();
    assertThat(warnings.add(5 + MINUTE)).isEqualTo(3);
    assertThat(warnings.add(6 + MINUTE)).isZero();
    assertThat(warnings.add(5 + 3 * MINUTE)).isEqualTo(2);
  }

  @Test
  void aKeyIsLoggedOnceInItsInterval() {
    assertThat(ofKeys.add("1", 0)).isEqualTo(1);
    assertThat(ofKeys.add("1", 10 * MINUTE - 1)).isZero();
    assertThat(ofKeys.add("2", 10 * MINUTE - 1)).isEqualTo(1);
    assertThat(ofKeys.add("1", 10 * MINUTE)).isEqualTo(2);
    assertThat(ofKeys.add("2", 10 * MINUTE)).isZero();
  }

  @Test
  void aNewKeyIsLoggedWhereOthersAreMany() {
    for (int key = 0; key < 100; key++) {
      assertThat(ofKeys.add(key, 0)).isEqualTo(1);
    }
    assertThat(ofKeys.add(99, 0)).isZero();
    assertThat(ofKeys.add(98, 0)).isZero();
  }
}
