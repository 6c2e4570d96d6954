// SPDX-License-Identifier: Apache-2.0
package dev.sluice.node;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class StatusPageTest {
  @ParameterizedTest
  @CsvSource({
    "0, 0 B",
    "1023, 1023 B",
    "1024, 1.00 KiB",
    "10240, 10.0 KiB",
    "1048575, 1024 KiB",
    "1610612736, 1.50 GiB",
    "9223372036854775807, 8.00 EiB"
  })
  void bytesHaveThreeDigits(long bytes, String text) {
    assertThat(StatusPage.bytes(bytes)).isEqualTo(text);
  }

  @ParameterizedTest
  @CsvSource({"0, 0 s", "59, 59 s", "61, 1 min 1 s", "3600, 1 h 0 min", "90000, 1 d 1 h"})
  void timesHaveTwoUnits(long seconds, String text) {
    assertThat(StatusPage.time(seconds)).isEqualTo(text);
  }
}
