// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks;

import static java.util.Objects.requireNonNull;

import dev.sluice.benchmarks.BenchmarkRun.MachineLoad;
import dev.sluice.benchmarks.Goal.Verdict;
import dev.sluice.testkit.Columns;
import dev.sluice.testkit.Spread;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/**
 * Options and output that the commands of bin/bench share. Picocli creates it with its command,
 * before that runs, so the {@link MachineLoad} spans the whole run. The command's thread uses it,
 * and calls {@link #write} or {@link #writeRows} last.
 */
public final class ComparisonOutput {
  private final MachineLoad start = MachineLoad.now();

  @Option(
      names = "--json",
      paramLabel = "FILE",
      description = "Also write the results to this file")
  private @Nullable Path json;

  @Spec(Spec.Target.MIXEE)
  private CommandSpec command;

  /** Returns the command's writer, for text other than rows. */
  public PrintWriter out() {
    return command.commandLine().getOut();
  }

  public int write(Collection<Comparison> rows) throws IOException {
    return write(rows, List.of());
  }

  /**
   * @param problems reasons why the rows are worthless
   * @return the command's exit status: 0 only without problems
   */
  public int write(Collection<Comparison> rows, List<String> problems) throws IOException {
    BenchmarkRun run = run();
    List<Comparison> list = rows.stream().map(row -> row.from(run)).toList();
    out().print(ComparisonTable.plain(list));
    problems.forEach(problem -> out().println("INVALID " + problem));
    run.warning().ifPresent(out()::println);
    if (json != null) {
      writeRows(list);
    }
    return problems.isEmpty() ? 0 : 1;
  }

  /** Writes rows, which have their origin. Call it only if {@link #json} is not null. */
  public void writeRows(List<Comparison> rows) throws IOException {
    new ResultFile(requireNonNull(json)).write(rows);
  }

  /** Returns the run so far, as if it ended now. */
  public BenchmarkRun run() {
    return BenchmarkRun.ended(start, command.commandLine().getParseResult().originalArgs());
  }

  /** Returns the file that --json names; null without --json. */
  public @Nullable Path json() {
    return json;
  }

  /**
   * The one table format for results, on a terminal ({@link ComparisonOutput}) and in documents
   * ({@code ReportCommand}, {@code TeraSortReport}). Called on the command's thread; no state. A
   * change of the columns changes docs/figures/performance-tables.md.
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
