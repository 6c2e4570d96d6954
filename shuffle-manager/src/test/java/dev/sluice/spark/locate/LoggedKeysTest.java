// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.locate;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class LoggedKeysTest {
  private long nowNanos;
  private final LoggedKeys keys = new LoggedKeys(2, () -> nowNanos);

  @Test
  void aKeyIsLoggedOnceInTenMinutes() {
    assertThat(keys.add("1")).isTrue();
    nowNanos += LoggedKeys.QUIET_NANOS - 1;
    assertThat(keys.add("1")).isFalse();
    assertThat(keys.add("2")).isTrue();
    nowNanos++;
    assertThat(keys.add("1")).isTrue();
    assertThat(keys.add("2")).isFalse();
  }

  @Test
  void aNewKeyIsLoggedWhereOthersAreMany() {
    for (int key = 0; key < 100; key++) {
      assertThat(keys.add(Integer.toString(key))).isTrue();
    }
    assertThat(keys.add("99")).isFalse();
    assertThat(keys.add("98")).isFalse();
  }
}
