// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks;

import dev.sluice.benchmarks.BenchmarkRun.MachineLoad;
import dev.sluice.benchmarks.Comparison.Pairs;
import dev.sluice.benchmarks.Goal.Verdict;
import dev.sluice.testkit.Columns;
import dev.sluice.testkit.Progress;
import dev.sluice.testkit.RunDirectory;
import dev.sluice.testkit.Spread;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/**
 * A command of bin/bench that measures. It collects rows and problems, prints them, and writes the
 * rows with their origin. Picocli creates it before it runs, so the {@link MachineLoad} spans the
 * whole run. All of it runs on the main thread, apart from threads of a subclass.
 */
public abstract class Benchmark implements Callable<Integer> {
  private final MachineLoad start = MachineLoad.now();

  @Option(
      names = "--json",
      paramLabel = "FILE",
      description = "Also write the results to this file")
  private @Nullable Path json;

  @Spec private CommandSpec command;

  protected final Progress progress = Progress.onStandardError();

  /** Rounds of quantities, which become the first rows. */
  protected final Pairs pairs = new Pairs();

  /** Rows of rounds that a report has put together. */
  protected final List<Comparison> rows = new ArrayList<>();

  /** Reasons why the rows are worthless. */
  protected final List<String> problems = new ArrayList<>();

  /** Refuses options that exclude each other, by a {@link #misuse}, before anything is done. */
  protected void checkOptions() {}

  /**
   * Measures, and adds to pairs, rows and problems.
   *
   * @param directory directory for this run's files, which is kept after a problem
   */
  protected abstract void measure(Path directory) throws Exception;

  @Override
  public Integer call() throws Exception {
    checkOptions();
    try (RunDirectory run = RunDirectory.of(command.name())) {
      measure(run.path());
      if (problems.isEmpty()) {
        run.delete();
      }
    }
    return report();
  }

  /** Prints and writes the results; returns the exit status, which is 0 only without problems. */
  int report() throws IOException {
    BenchmarkRun run =
        BenchmarkRun.ended(start, command.commandLine().getParseResult().originalArgs());
    List<Comparison> all =
        Stream.concat(pairs.comparisons().stream(), rows.stream())
            .map(row -> row.from(run))
            .toList();
    out().print(ComparisonTable.plain(all));
    problems.forEach(problem -> out().println("INVALID " + problem));
    run.warning().ifPresent(out()::println);
    if (json != null) {
      write(json, all, run);
    }
    return problems.isEmpty() ? 0 : 1;
  }

  /** Returns the command's writer, for results. */
  protected final PrintWriter out() {
    progress.clear();
    return command.commandLine().getOut();
  }

  /** Returns true if a common option was given, before or after the name of bin/bench's part. */
  protected final boolean isGiven(String option) {
    return command.root().findOption(option).getValue() != null;
  }

  /** Returns an exception that says that the options are wrong. */
  protected final ParameterException misuse(String problem) {
    return new ParameterException(command.commandLine(), problem);
  }

  /** Writes the file of --json; {@code run} is the origin of the rows. */
  protected void write(Path file, List<Comparison> withOrigin, BenchmarkRun run)
      throws IOException {
    new ResultFile(file).write(withOrigin);
  }

  /**
   * The one table format for results, on a terminal ({@link Benchmark}) and in documents ({@code
   * ReportCommand}). Called on the command's thread; no state. A change of the columns changes
   * docs/figures/performance-tables.md.
   */
  public static final class ComparisonTable {
    private static final List<String> HEADER =
        List.of("row", "unit", "Sluice", "partner", "ratio", "goal", "reached");

    private ComparisonTable() {}

    /**
     * Returns a table with aligned columns for a terminal; an empty string if there are no rows.
     */
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
}
