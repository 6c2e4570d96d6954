// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks;

import dev.sluice.benchmarks.Comparison.Better;
import java.util.Locale;
import org.apache.commons.math3.distribution.TDistribution;
import org.apache.commons.math3.stat.StatUtils;
import org.apache.commons.math3.stat.inference.TestUtils;

/**
 * Answers whether a goal is reached: yes or no only if the rounds differ from the goal by more than
 * chance. The test is a two-sided one-sample t-test of the rounds' ratios against the goal at the
 * level of 5 %; the median must be on the same side as the mean. {@link Comparison} and {@link Goal}
 * ask for it.
 *
 * @param answer yes, no or undecided
 * @param rounds number of rounds that would probably decide (four times in five), if the next ones
 *     are like these; 0 unless undecided; more than {@link #MOST_ROUNDS} if no feasible number does
 */
public record Verdict(Answer answer, int rounds) {
  /** Maximum feasible rounds. If more are needed, the ratio is as good as the goal. */
  static final int MOST_ROUNDS = 1000;

  /** Level of the test: of runs whose true ratio is the goal, at most 5 % get a yes or no. */
  private static final double LEVEL = 0.05;

  private static final double POWER = 0.8;

  /** Least number of rounds that says anything about their scatter. */
  private static final int LEAST_ROUNDS = 3;

  public enum Answer {
    YES,
    NO,
    UNDECIDED
  }

  /** Returns the verdict about a goal. */
  static Verdict of(Comparison row, Goal goal) {
    double[] ratios = row.ratios();
    if (ratios.length < LEAST_ROUNDS) {
      return new Verdict(Answer.UNDECIDED, LEAST_ROUNDS);
    }
    double distance = StatUtils.mean(ratios) - goal.ratio();
    double deviation = Math.sqrt(StatUtils.variance(ratios));
    boolean reached = goal.isReached(row.ratio());
    boolean sameSide = reached == (goal.better() == Better.LESS ? distance <= 0 : distance >= 0);
    if (deviation == 0 || sameSide && TestUtils.tTest(goal.ratio(), ratios) < LEVEL) {
      return decided(reached);
    }
    return new Verdict(
        Answer.UNDECIDED, roundsToDecide(ratios.length, Math.abs(distance) / deviation));
  }

  private static Verdict decided(boolean reached) {
    return new Verdict(reached ? Answer.YES : Answer.NO, 0);
  }

  /**
   * @param effect distance from the goal in standard deviations
   */
  private static int roundsToDecide(int rounds, double effect) {
    for (int more = rounds + 1; more <= MOST_ROUNDS; more++) {
      TDistribution t = new TDistribution(null, more - 1);
      double needed =
          t.inverseCumulativeProbability(1 - LEVEL / 2) + t.inverseCumulativeProbability(POWER);
      if (effect * Math.sqrt(more) >= needed) {
        return more;
      }
    }
    return MOST_ROUNDS + 1;
  }

  /** Returns "yes", "no", or text such as "undecided: 12 rounds may decide". */
  @Override
  public String toString() {
    String word = answer.name().toLowerCase(Locale.ROOT);
    if (answer != Answer.UNDECIDED) {
      return word;
    }
    return rounds > MOST_ROUNDS
        ? word + ": too close to the goal"
        : "%s: %d rounds may decide".formatted(word, rounds);
  }
}
