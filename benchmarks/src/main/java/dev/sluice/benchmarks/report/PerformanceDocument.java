// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks.report;

import dev.sluice.benchmarks.Comparison;
import dev.sluice.benchmarks.ComparisonTable;
import dev.sluice.benchmarks.Goal;
import dev.sluice.benchmarks.ResultFile;
import dev.sluice.benchmarks.RowPattern;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A document with tables of performance. Its rows are in {@code results.json} next to it. {@link
 * ReportCommand} first adds rows and then writes the document, on one thread.
 *
 * <p>A table stands between {@code <!-- goals -->}, or {@code <!-- rows: storm-* -->} for rows
 * whose names match, and {@code <!-- end -->}. If no row matches, the text says that nothing was
 * measured. The text between the tables stays.
 */
record PerformanceDocument(Path file) {
  private static final Pattern PART =
      Pattern.compile("(<!-- (?:goals|rows: ([^>]+)) -->\n).*?(<!-- end -->)", Pattern.DOTALL);

  /** Returns the file of its rows. */
  ResultFile rows() {
    return new ResultFile(file.resolveSibling("results.json"));
  }

  /** Writes its tables. */
  void write() throws IOException {
    Files.writeString(file, withTables(Files.readString(file), rows().read()));
  }

  /** Returns the document with tables of these rows. */
  static String withTables(String document, List<Comparison> rows) {
    return PART.matcher(document)
        .replaceAll(
            part ->
                Matcher.quoteReplacement(
                    "%s\n%s\n%s"
                        .formatted(part.group(1), text(part.group(2), rows), part.group(3))));
  }

  /**
   * @param names pattern of the rows' names; null for the goals
   */
  private static String text(String names, List<Comparison> rows) {
    if (names == null) {
      return Goal.table(rows);
    }
    List<Comparison> chosen = new RowPattern(names).of(rows);
    return chosen.isEmpty() ? "Not measured.\n" : ComparisonTable.markdown(chosen);
  }
}
