// SPDX-License-Identifier: Apache-2.0
package dev.sluice.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SpreadTest {
  @ParameterizedTest
  @CsvSource({
    "0, 0.00",
    "0.0451, 0.0451",
    "0.95, 0.950",
    "1.0666, 1.07",
    "23.84, 23.8",
    "842.4, 842",
    "'4398.2', '4,398'",
    "-12.345, -12.3"
  })
  void numbersHaveThreeSignificantDigits(double value, String text) {
    assertThat(Spread.format(value)).isEqualTo(text);
  }

  @Test
  void theMedianStandsWithMinimumAndMaximum() {
    assertThat(Spread.of(3, 1, 20)).hasToString("3.00 (1.00 to 20.0)");
  }

  @Test
  void theMedianIsTheMiddleOrTheMeanOfTheTwoInTheMiddle() {
    assertThat(Spread.median(3, 1, 2)).isEqualTo(2);
    assertThat(Spread.median(4, 1, 2, 3)).isEqualTo(2.5);
    assertThat(Spread.median(new double[0])).isNaN();
  }

  @Test
  void aSingleValueHasNoRange() {
    assertThat(Spread.of(3)).hasToString("3.00");
  }
}
