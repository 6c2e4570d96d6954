// SPDX-License-Identifier: Apache-2.0
package dev.sluice.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class ReadLimitTest {
  @Test
  void numbersOfADeviceAreThoseOfTheKernel() {
    assertThat(ReadLimit.numbers(0x0801)).isEqualTo("8:1");
    assertThat(ReadLimit.numbers(0x10300)).isEqualTo("259:0");
  }

  /** The upper bits of both numbers lie above the lower ones: makedev(3). */
  @Test
  void largeNumbersOfADeviceAreInTwoParts() {
    assertThat(ReadLimit.numbers(0x11032C)).isEqualTo("259:300");
    assertThat(ReadLimit.numbers(0x1000_0010_032CL)).isEqualTo("4099:300");
  }
}
