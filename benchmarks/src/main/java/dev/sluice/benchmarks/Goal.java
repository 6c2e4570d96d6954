// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks;

import dev.sluice.benchmarks.Comparison.Better;
import dev.sluice.testkit.Resource;
import dev.sluice.testkit.Spread;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.apache.commons.math3.distribution.TDistribution;
import org.apache.commons.math3.stat.StatUtils;
import org.apache.commons.math3.stat.inference.TestUtils;

/**
 * A ratio to be reached, and the rows that show whether it is. The file {@code goals.txt} has one
 * goal per line; if several lines match a row, the first one is its goal. {@link Comparison} and
 * the report ask it; it is immutable.
 *
 * @param what description in words
 * @param names pattern of the rows' names
 */
public record Goal(String what, Better better, double ratio, RowPattern names) {
  private static final List<Goal> ALL =
      Resource.text(Goal.class, "goals.txt").lines().map(Goal::parse).toList();

  /**
   * @param line such as {@code 0.15 or less | names of rows | description}
   */
  private static Goal parse(String line) {
    String[] parts = line.split(" or | \\| ", 4);
    Better better = Better.valueOf(parts[1].toUpperCase(Locale.ROOT));
    return new Goal(parts[3], better, Double.parseDouble(parts[0]), new RowPattern(parts[2]));
  }

  /** Returns the first goal whose pattern matches the name. */
  static Optional<Goal> of(String name) {
    return ALL.stream().filter(goal -> goal.names.isOne(name)).findFirst();
  }

  /** Returns true if one ratio reaches the goal; {@link Verdict} judges a row by its scatter. */
  boolean isReached(double by) {
    return better == Better.LESS ? by <= ratio : by >= ratio;
  }

  /** Returns the row that decides: the worst of those that match. */
  private Optional<Comparison> decisive(List<Comparison> rows) {
    Comparator<Comparison> byRatio = Comparator.comparingDouble(Comparison::ratio);
    return names.of(rows).stream().max(better == Better.LESS ? byRatio : byRatio.reversed());
  }

  /** Returns text such as "0.97 or more". */
  @Override
  public String toString() {
    return String.format(Locale.ROOT, "%.2f or ", ratio) + better.name().toLowerCase(Locale.ROOT);
  }

  /** Returns a Markdown table of all goals with their verdicts. */
  public static String table(List<Comparison> rows) {
    StringBuilder table =
        new StringBuilder("| measurement | goal | ratio | reached |\n|---|---|---|---|\n");
    for (Goal goal : ALL) {
      String measured =
          goal.decisive(rows)
              .map(row -> Spread.of(row.ratios()) + " | " + Verdict.of(row, goal))
              .orElse("not measured | ");
      table.append("| %s | %s | %s |\n".formatted(goal.what(), goal, measured));
    }
    return table.toString();
  }

  /**
   * Answers whether a goal is reached: yes or no only if the rounds differ from the goal by more
   * than chance. The test is a two-sided one-sample t-test of the rounds' ratios against the goal
   * at the level of 5 %; the median must be on the same side as the mean. {@link Comparison} and
   * {@link Goal} ask for it.
   *
   * @param answer yes, no or undecided
   * @param rounds number of rounds that would probably decide (four times in five), if the next
   *     ones are like these; 0 unless undecided; more than {@link #MOST_ROUNDS} if no feasible
   *     number does
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

  /**
   * Chooses rows by name: a list of words, one of which must match; {@code *} matches any text
   * without an {@code @}, behind which a name has its versions. Goals, parts of {@code bench all}
   * and tables of documents have one. Immutable.
   */
  public static final class RowPattern {
    private final Pattern names;

    public RowPattern(String words) {
      names =
          Pattern.compile(
              Arrays.stream(words.split(" "))
                  .map(word -> "\\Q" + word.replace("*", "\\E[^@]*\\Q") + "\\E")
                  .collect(Collectors.joining("|")));
    }

    public boolean isOne(String name) {
      return names.matcher(name).matches();
    }

    public List<Comparison> of(List<Comparison> rows) {
      return rows.stream().filter(row -> isOne(row.name())).toList();
    }
  }
}
