// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks.bench;

import dev.sluice.benchmarks.Benchmark.ComparisonTable;
import dev.sluice.benchmarks.Comparison;
import dev.sluice.benchmarks.Goal;
import dev.sluice.benchmarks.Goal.RowPattern;
import dev.sluice.benchmarks.ResultFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/**
 * The command {@code bin/bench report}: writes the tables of docs/figures/performance-tables.md
 * from rows.
 */
@Command(
    name = "report",
    description = {
      "Write the tables of docs/figures/performance-tables.md",
      "Adds the rows of the files to docs/figures/results.json, and writes the tables from it. The"
          + " text between the tables stays."
    })
public final class ReportCommand implements Callable<Integer> {
  private static final Pattern PART =
      Pattern.compile("(<!-- (?:goals|rows: ([^>]+)) -->\n).*?(<!-- end -->)", Pattern.DOTALL);

  @Option(
      names = "--document",
      paramLabel = "FILE",
      description = "Write another document, whose rows are in results.json next to it")
  private @Nullable Path document;

  @Parameters(paramLabel = "FILE", description = "File that a benchmark wrote by --json")
  private List<Path> files = new ArrayList<>();

  @Override
  public Integer call() throws IOException {
    Path chosen =
        document != null
            ? document.toAbsolutePath()
            : Path.of(System.getenv("SLUICE_HOME"), "docs", "figures", "performance-tables.md");
    ResultFile rows = new ResultFile(chosen.resolveSibling("results.json"));
    for (Path file : files) {
      if (!Files.exists(file)) {
        System.err.println("there is no file " + file);
        return 1;
      }
      rows.add(new ResultFile(file).read());
    }
    Files.writeString(chosen, withTables(Files.readString(chosen), rows.read()));
    return 0;
  }

  /**
   * Returns a document with tables of these rows. A table stands between {@code <!-- goals -->}, or
   * {@code <!-- rows: storm-* -->} for rows whose names match, and {@code <!-- end -->}. If no row
   * matches, the text says that nothing was measured. The text between the tables stays.
   */
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
  private static String text(@Nullable String names, List<Comparison> rows) {
    if (names == null) {
      return Goal.table(rows);
    }
    List<Comparison> chosen = new RowPattern(names).of(rows);
    return chosen.isEmpty() ? "Not measured.\n" : ComparisonTable.markdown(chosen);
  }
}
