// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.conf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.spark.network.util.JavaUtils;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Our parser of sizes and times agrees with Spark's. */
class SparkUnitsTest {
  private static final long MIB = 1 << 20;

  @ParameterizedTest
  @ValueSource(
      strings = {
        "0", "1", "7b", "64k", "64kb", "64Ki", "64KiB", "2m", "2mb", "32g", "32GB", " 10t ", "10tb",
        "1p", "1pb", "007m", "8191p"
      })
  void sizesAreSparks(String text) {
    assertThat(SparkUnits.bytes(text)).isEqualTo(JavaUtils.byteStringAsBytes(text));
    assertThat(SparkUnits.wholeMebibytes(text)).isEqualTo(JavaUtils.byteStringAsMb(text) * MIB);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        " ",
        "g",
        "-1g",
        "+1g",
        "1.5g",
        "1,5g",
        "64 m",
        "64 potatoes",
        "1e3",
        "0x10",
        "8192p",
        "9223372036854775808",
        "9007199254740992k",
        "1x",
        "1kk"
      })
  void otherTextsAreNoSizes(String text) {
    assertThatThrownBy(() -> JavaUtils.byteStringAsBytes(text))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> SparkUnits.bytes(text)).isInstanceOf(NumberFormatException.class);
  }

  /** Keys such as spark.executor.memory are in MiB. */
  @Test
  void memoryWithoutAUnitIsInMebibytes() {
    assertThat(SparkUnits.wholeMebibytes("1024")).isEqualTo(1024 * MIB);
    assertThat(JavaUtils.byteStringAsMb("1024")).isEqualTo(1024);
    assertThat(SparkUnits.wholeMebibytes("1500k")).isEqualTo(MIB);
    assertThat(JavaUtils.byteStringAsMb("1500k")).isEqualTo(1);
  }

  @ParameterizedTest
  @ValueSource(strings = {"0", "7", "-3s", "5us", "5ms", "5s", "5m", "5min", "2H", "1d", " 20ms "})
  void timesAreSparks(String text) {
    for (TimeUnit unit : new TimeUnit[] {TimeUnit.MILLISECONDS, TimeUnit.MICROSECONDS}) {
      assertThat(SparkUnits.time(text, unit)).isEqualTo(JavaUtils.timeStringAs(text, unit));
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "s", "soon", "1.5s", "5 s", "5sec", "9223372036854775808"})
  void otherTextsAreNoTimes(String text) {
    assertThatThrownBy(() -> JavaUtils.timeStringAs(text, TimeUnit.SECONDS))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> SparkUnits.time(text, TimeUnit.SECONDS))
        .isInstanceOf(NumberFormatException.class);
  }

  @Test
  void switchesAreSparks() {
    for (String text : new String[] {"true", "TRUE", " True ", "false", "False "}) {
      assertThat(SparkUnits.isTrue(Map.of("a.key", text)::get, "a.key"))
          .isEqualTo(Boolean.parseBoolean(text.strip()));
    }
    assertThat(SparkUnits.isTrue(Map.<String, String>of()::get, "a.key")).isFalse();
    for (String text : new String[] {"", "yes", "1", "on", "t", "truefalse"}) {
      assertThatThrownBy(() -> SparkUnits.isTrue(Map.of("a.key", text)::get, "a.key"))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessage("a.key is \"" + text + "\", but must be true or false");
    }
  }
}
