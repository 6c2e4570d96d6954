package dev.sluice.benchmarks;

import dev.sluice.benchmarks.Comparison.Better;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * A ratio that is to be reached, and which rows say whether it is. All are in {@code goals.txt}, a
 * line each.
 *
 * @param what in words
 * @param names of the rows
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
   * @param line such as {@code 0.15 or less | names of rows | what is measured}
   */
  private static Goal parse(String line) {
    String[] parts = line.split(" or | \\| ", 4);
    Better better = Better.valueOf(parts[1].toUpperCase(Locale.ROOT));
    return new Goal(parts[3], better, Double.parseDouble(parts[0]), new RowPattern(parts[2]));
  }

  /** The first one that a row of that name decides. */
  static Optional<Goal> of(String name) {
    return ALL.stream().filter(goal -> goal.names.isOne(name)).findFirst();
  }

  boolean isReached(double by) {
    return better == Better.LESS ? by <= ratio : by >= ratio;
  }

  /** The row that decides: where several say, the worst. */
  private Optional<Comparison> decisive(List<Comparison> rows) {
    Comparator<Comparison> byRatio = Comparator.comparingDouble(Comparison::ratio);
    return names.of(rows).stream().max(better == Better.LESS ? byRatio : byRatio.reversed());
  }

  /** "0.97 or more". */
  @Override
  public String toString() {
    return String.format(Locale.ROOT, "%.2f or ", ratio) + better.name().toLowerCase(Locale.ROOT);
  }

  /** What is to be reached, and what is. */
  public static String table(List<Comparison> rows) {
    StringBuilder table =
        new StringBuilder("| what | goal | ratio | reached |\n|---|---|---|---|\n");
    for (Goal goal : ALL) {
      String measured =
          goal.decisive(rows)
              .map(row -> Spread.of(row.ratios()) + " | " + word(goal.isReached(row.ratio())))
              .orElse("not measured | ");
      table.append("| %s | %s | %s |\n".formatted(goal.what(), goal, measured));
    }
    return table.toString();
  }

  static String word(boolean isReached) {
    return isReached ? "yes" : "no";
  }
}
