package dev.sluice.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class StatisticsTest {
  @Test
  void theMedianIsTheMiddleOrTheMeanOfTheTwoInTheMiddle() {
    assertThat(Statistics.median(3, 1, 2)).isEqualTo(2);
    assertThat(Statistics.median(4, 1, 2, 3)).isEqualTo(2.5);
    assertThat(Statistics.median()).isNaN();
  }
}
