package dev.sluice.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine.TypeConversionException;

class BinarySizeTest {
  @ParameterizedTest
  @CsvSource({
    "16,16",
    "16B,16",
    "4k,4096",
    "64KiB,65536",
    "64kb,65536",
    "1m,1048576",
    "8MiB,8388608"
  })
  void unitsArePowersOfTwo(String text, int bytes) {
    assertThat(new BinarySize().convert(text)).isEqualTo(bytes);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "k", "-1", "1g", "1.5m"})
  void otherTextIsRefusedWithAnExample(String text) {
    assertThatThrownBy(() -> new BinarySize().convert(text))
        .isInstanceOf(TypeConversionException.class)
        .hasMessageContaining("64k");
  }

  @ParameterizedTest
  @CsvSource({"16,16B", "1025,1025B", "1024,1KiB", "1572864,1536KiB", "8388608,8MiB"})
  void theShortestExactFormIsPrinted(int bytes, String text) {
    assertThat(BinarySize.format(bytes)).isEqualTo(text);
  }
}
