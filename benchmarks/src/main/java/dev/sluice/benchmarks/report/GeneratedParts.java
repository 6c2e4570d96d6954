package dev.sluice.benchmarks.report;

import dev.sluice.benchmarks.Comparison;
import dev.sluice.benchmarks.ComparisonTable;
import dev.sluice.benchmarks.Goal;
import dev.sluice.benchmarks.RowPattern;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Writes the tables of a document that come from results; everything between them is written by
 * hand and stays. A table is what stands between {@code <!-- goals -->}, or {@code <!-- rows:
 * storm-* -->} for the rows of such a name, and {@code <!-- end -->}. Where no row has such a name,
 * it says that nothing was measured.
 */
final class GeneratedParts {
  private static final Pattern PART =
      Pattern.compile("(<!-- (?:goals|rows: ([^>]+)) -->\n).*?(<!-- end -->)", Pattern.DOTALL);

  private GeneratedParts() {}

  /** The document with its generated parts as the rows have it. */
  static String write(String document, List<Comparison> rows) {
    return PART.matcher(document)
        .replaceAll(
            part ->
                Matcher.quoteReplacement(
                    "%s\n%s\n%s"
                        .formatted(part.group(1), text(part.group(2), rows), part.group(3))));
  }

  /**
   * @param names null for the goals
   */
  private static String text(String names, List<Comparison> rows) {
    if (names == null) {
      return Goal.table(rows);
    }
    List<Comparison> chosen = new RowPattern(names).of(rows);
    return chosen.isEmpty() ? "Not measured.\n" : ComparisonTable.markdown(chosen);
  }
}
