// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class RateLimitedLogTest {
  private static final long MINUTE = TimeUnit.MINUTES.toNanos(1);

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
}
