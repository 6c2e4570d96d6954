// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.benchmarks.Comparison.Better;
import dev.sluice.benchmarks.Goal.RowPattern;
import dev.sluice.benchmarks.Goal.Verdict;
import dev.sluice.benchmarks.Goal.Verdict.Answer;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

class VerdictTest {
  private static final Goal LESS = new Goal("", Better.LESS, 1, new RowPattern("row"));
  private static final Goal MORE = new Goal("", Better.MORE, 0.95, new RowPattern("row"));

  @Test
  void roundsFarFromTheGoalDecide() {
    assertThat(verdict(LESS, 0.81, 0.80, 0.82, 0.79).answer()).isEqualTo(Answer.YES);
    assertThat(verdict(LESS, 1.21, 1.20, 1.22, 1.19).answer()).isEqualTo(Answer.NO);
    assertThat(verdict(MORE, 0.99, 0.98, 1.00, 0.99).answer()).isEqualTo(Answer.YES);
    assertThat(verdict(MORE, 0.90, 0.91, 0.89, 0.90).answer()).isEqualTo(Answer.NO);
  }

  @Test
  void aMedianWithinItsScatterIsUndecided() {
    Verdict verdict = verdict(LESS, 0.450, 0.763, 1.99);
    assertThat(verdict.answer()).isEqualTo(Answer.UNDECIDED);
    assertThat(verdict(LESS, 0.9, 0.974, 1.0)).hasToString("undecided: 15 rounds may decide");
  }

  @Test
  void oneRoundDecidesNothing() {
    assertThat(verdict(LESS, 0.5)).isEqualTo(new Verdict(Answer.UNDECIDED, 3));
    assertThat(verdict(LESS, 1.5, 1.5)).isEqualTo(new Verdict(Answer.UNDECIDED, 3));
  }

  @Test
  void aRatioThatEqualsTheGoalNeverDecides() {
    assertThat(verdict(LESS, 0.99, 1.01, 1.0)).hasToString("undecided: too close to the goal");
  }

  /** The mean is below the goal by one wild round, the median is above it. */
  @Test
  void meanAndMedianOnDifferentSidesAreUndecided() {
    double[] rounds = new double[100];
    Arrays.fill(rounds, 1.01);
    rounds[0] = -9;
    assertThat(verdict(LESS, rounds).answer()).isEqualTo(Answer.UNDECIDED);
  }

  @Test
  void roundsWithoutScatterDecide() {
    assertThat(verdict(LESS, 1, 1, 1).answer()).isEqualTo(Answer.YES);
    assertThat(verdict(LESS, 1.1, 1.1, 1.1).answer()).isEqualTo(Answer.NO);
  }

  private static Verdict verdict(Goal goal, double... ratios) {
    double[] partner = new double[ratios.length];
    Arrays.fill(partner, 1);
    return Verdict.of(Comparison.less("row", "s", ratios, "stock", partner), goal);
  }
}
