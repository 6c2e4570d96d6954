// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine.TypeConversionException;

class SizesTest {
  private final Sizes sizes = new Sizes();

  @ParameterizedTest
  @CsvSource({"100,100", "64m,64000000", "1g,1000000000", "2GB,2000000000", "8k,8000"})
  void unitsAreDecimal(String text, long bytes) {
    assertThat(sizes.convert(text)).isEqualTo(bytes);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "g", "1.5g", "-1m", "1x"})
  void otherTextIsRefusedWithAnExample(String text) {
    assertThatThrownBy(() -> sizes.convert(text))
        .isInstanceOf(TypeConversionException.class)
        .hasMessageContaining("64m");
  }

  @Test
  void theShortestExactFormIsPrinted() {
    assertThat(Sizes.format(64_000_000)).isEqualTo("64m");
    assertThat(Sizes.format(1_500_000_000)).isEqualTo("1500m");
    assertThat(Sizes.format(1_234_500)).isEqualTo("1234500");
    assertThat(Sizes.format(0)).isEqualTo("0");
  }
}
