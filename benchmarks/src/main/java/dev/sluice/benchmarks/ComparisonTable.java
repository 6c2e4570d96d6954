// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks;

import dev.sluice.testkit.Columns;
import dev.sluice.testkit.Spread;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * The one table format for results, on a terminal ({@link ComparisonOutput}) and in documents
 * ({@code PerformanceDocument}, {@code TeraSortReport}). Called on the command's thread; no state.
 * A change of the columns changes docs/figures/performance-tables.md.
 */
public final class ComparisonTable {
  private static final List<String> HEADER =
      List.of("row", "unit", "Sluice", "partner", "ratio", "goal", "reached");

  private ComparisonTable() {}

  /** Returns a table with aligned columns for a terminal; an empty string if there are no rows. */
  public static String plain(List<Comparison> rows) {
    return rows.isEmpty() ? "" : Columns.align(lines(rows), "", "  ", "");
  }

  /** Returns a table in Markdown for documents. */
  public static String markdown(List<Comparison> rows) {
    List<List<String>> lines = lines(rows);
    lines.add(1, Collections.nCopies(HEADER.size(), "---"));
    StringBuilder table = new StringBuilder();
    for (List<String> line : lines) {
      table.append("| ").append(String.join(" | ", line)).append(" |\n");
    }
    return table.toString();
  }

  private static List<List<String>> lines(List<Comparison> rows) {
    List<List<String>> lines = new ArrayList<>();
    lines.add(HEADER);
    rows.forEach(row -> lines.add(cells(row)));
    return lines;
  }

  private static List<String> cells(Comparison row) {
    return List.of(
        row.name(),
        row.unit(),
        Spread.of(row.sluice()).toString(),
        row.partner() + " " + Spread.of(row.partnerValues()),
        Spread.of(row.ratios()).toString(),
        Goal.of(row.name()).map(Goal::toString).orElse(""),
        row.verdict().map(Verdict::toString).orElse(""));
  }
}
