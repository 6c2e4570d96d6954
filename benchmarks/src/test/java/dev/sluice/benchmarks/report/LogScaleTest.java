package dev.sluice.benchmarks.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.stream.DoubleStream;
import org.junit.jupiter.api.Test;

class LogScaleTest {
  @Test
  void equalRatiosAreEqualDistances() {
    LogScale scale = new LogScale(1, 100, 0, 200);
    assertThat(scale.at(1)).isEqualTo(0);
    assertThat(scale.at(10)).isCloseTo(100, within(1e-9));
    assertThat(scale.at(100)).isEqualTo(200);
  }

  @Test
  void allValuesAreShownAndAxesMayGoUpwards() {
    LogScale scale = LogScale.around(DoubleStream.of(5, 0.2, 1), 300, 0);
    assertThat(scale.at(0.2)).isBetween(150.0, 300.0);
    assertThat(scale.at(5)).isBetween(0.0, 150.0);
  }

  @Test
  void ticksAreRoundNumbersInBetween() {
    assertThat(new LogScale(0.3, 25, 0, 1).ticks()).containsExactly(0.5, 1, 2, 5, 10, 20);
  }

  @Test
  void aShortAxisHasMoreOfThem() {
    assertThat(new LogScale(0.65, 1.5, 0, 1).ticks())
        .usingComparatorWithPrecision(1e-9)
        .containsExactly(0.7, 0.9, 1);
  }

  @Test
  void labelsAreAsShortAsTheyCanBe() {
    double[] ticks = new LogScale(0.15, 2500, 0, 1).ticks();
    assertThat(LogScale.label(ticks[0])).isEqualTo("0.2");
    assertThat(LogScale.label(ticks[2])).isEqualTo("1");
    assertThat(LogScale.label(ticks[ticks.length - 1])).isEqualTo("2000");
  }
}
