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
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/**
 * The command {@code bin/bench report}: writes the tables and the plot of
 * docs/figures/performance-tables.md from rows.
 */
@Command(
    name = "report",
    description = {
      "Write the tables and the plot of docs/figures/performance-tables.md",
      "Adds the rows of the files to docs/figures/results.json, and writes the tables and the plot,"
          + " performance-tables.svg, from it. The text between the tables stays."
    })
public final class ReportCommand implements Callable<Integer> {
  private static final Pattern PART =
      Pattern.compile("(<!-- (?:goals|rows: ([^>]+)) -->\n).*?(<!-- end -->)", Pattern.DOTALL);

  private static final Pattern PLOT = Pattern.compile("<!-- plot: ([^>]+) -->");

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
    List<Comparison> all = rows.read();
    String text = withTables(Files.readString(chosen), all);
    Files.writeString(chosen, text);
    Optional<String> plot = plot(text, all);
    if (plot.isPresent()) {
      Files.writeString(plotOf(chosen), plot.get());
    }
    return 0;
  }

  /** Returns the file of a document's plot. */
  static Path plotOf(Path document) {
    return document.resolveSibling(
        document.getFileName().toString().replaceFirst("\\.md$", "") + ".svg");
  }

  /**
   * Returns the plot for a document with {@code <!-- plot: storm-* -->}, of the rows whose names
   * match, sorted by name; empty for a document without it.
   */
  static Optional<String> plot(String document, List<Comparison> rows) {
    Matcher names = PLOT.matcher(document);
    if (!names.find()) {
      return Optional.empty();
    }
    List<Comparison> chosen = new ArrayList<>(new RowPattern(names.group(1)).of(rows));
    chosen.sort(Comparator.comparing(Comparison::name));
    return Optional.of(RatioPlot.svg(chosen));
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
