// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks;

import dev.sluice.benchmarks.Comparison.Better;
import dev.sluice.testkit.Spread;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * A ratio to be reached, and the rows that show whether it is. The file {@code goals.txt} has one
 * goal per line; if several lines match a row, the first one is its goal. {@link Comparison} and
 * the report ask it; it is immutable.
 *
 * @param what description in words
 * @param names pattern of the rows' names
 */
public record Goal(String what, Better better, double ratio, RowPattern names) {
  private static final List<Goal> ALL = read("goals.txt");

  private static List<Goal> read(String resource) {
    try (InputStream lines = Goal.class.getResourceAsStream(resource)) {
      return new String(lines.readAllBytes(), StandardCharsets.UTF_8)
          .lines()
          .map(Goal::parse)
          .toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

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
}
