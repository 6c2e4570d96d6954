package dev.sluice.benchmarks.tpcds;

import dev.sluice.benchmarks.Comparison;
import dev.sluice.benchmarks.Comparison.Better;
import dev.sluice.benchmarks.ComparisonTable;
import dev.sluice.benchmarks.Shuffle;
import dev.sluice.benchmarks.SluiceTotals;
import dev.sluice.benchmarks.Statistics;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;

/** Puts the results of driver processes together, and finds what is wrong with them. */
final class TpcdsReport {
  private static final double QUERY_GOAL = 1.05;
  private static final double TOTAL_GOAL = 0.97;

  private final String prefix;
  private final List<ProcessResult> processes;
  private final List<String> queries;

  /**
   * @param scale of the data
   * @param queries names of those that were to run
   */
  TpcdsReport(String scale, List<String> queries, List<ProcessResult> processes) {
    this.prefix = "tpcds-sf" + scale + "-";
    this.queries = queries;
    this.processes = processes;
  }

  /**
   * A row for each query that had no problem in any round, and their sum if that is all of them;
   * another sum beside the oracle where it has run.
   */
  List<Comparison> comparisons() {
    List<Comparison> rows = new ArrayList<>();
    if (rounds(Shuffle.STOCK).findAny().isEmpty()) {
      return rows;
    }
    List<String> valid = queries.stream().filter(query -> problemsOf(query).isEmpty()).toList();
    valid.forEach(query -> rows.add(comparison(query, List.of(query), Shuffle.STOCK, QUERY_GOAL)));
    if (valid.size() == Query.all().size()) {
      rows.add(comparison("total", valid, Shuffle.STOCK, TOTAL_GOAL));
      if (rounds(Shuffle.ORACLE).findAny().isPresent()) {
        rows.add(comparison("total-oracle", valid, Shuffle.ORACLE, null));
      }
    }
    return rows;
  }

  /** What makes the run invalid; nothing if all answers are right and went through Sluice. */
  List<String> problems() {
    List<String> problems = new ArrayList<>();
    queries.forEach(query -> problems.addAll(problemsOf(query)));
    for (ProcessResult process : processes) {
      if (process.shuffle() == Shuffle.SLUICE && process.totals().readBytes() == 0) {
        problems.add(where(process) + ": nothing was READ");
      }
    }
    return problems;
  }

  String table() {
    StringBuilder table = new StringBuilder(ComparisonTable.plain(comparisons()));
    problems().forEach(problem -> table.append("INVALID ").append(problem).append('\n'));
    return table.append(transfer()).toString();
  }

  /** Whether the answers of one process are right: for a run that compares no times. */
  String checkTable() {
    StringBuilder table = new StringBuilder();
    for (ProcessResult process : processes) {
      for (QueryResult result : process.queries()) {
        String exclusion = new Query(result.query()).exclusion();
        String verdict = exclusion == null ? "golden" : "not compared: " + exclusion;
        table.append(
            "%-6s %6d rows  %s%n"
                .formatted(
                    result.query(),
                    result.rows(),
                    result.problem() == null ? verdict : result.problem()));
      }
    }
    problems().forEach(problem -> table.append("INVALID ").append(problem).append('\n'));
    return table.append(transfer()).toString();
  }

  private String transfer() {
    Map<String, Long> fallbacks = new TreeMap<>();
    long bytes = 0;
    for (ProcessResult process : processes) {
      SluiceTotals totals = process.totals();
      bytes += totals.readBytes();
      totals
          .fallbackBlocks()
          .forEach((reason, blocks) -> fallbacks.merge(reason, blocks, Long::sum));
    }
    return "bytes READ: %d; blocks that fell back: %s%n"
        .formatted(bytes, fallbacks.isEmpty() ? "none" : fallbacks);
  }

  private List<String> problemsOf(String query) {
    List<String> problems = new ArrayList<>();
    TreeSet<String> answers = new TreeSet<>();
    for (ProcessResult process : processes) {
      QueryResult result = result(process, query);
      if (result.problem() != null) {
        problems.add("%s, %s: %s".formatted(query, where(process), result.problem()));
      } else {
        answers.add(result.answer());
      }
    }
    if (answers.size() > 1) {
      problems.add(query + ": the answers of driver processes differ");
    }
    return problems;
  }

  /** The queries together, in the rounds that both shuffles have completed. */
  private Comparison comparison(String name, List<String> together, Shuffle partner, Double goal) {
    return new Comparison(
        prefix + name,
        "s",
        Better.LESS,
        rounds(partner).mapToDouble(process -> seconds(process, together)).toArray(),
        partner.label(),
        rounds(partner)
            .mapToDouble(process -> seconds(sameRound(process, partner), together))
            .toArray(),
        goal);
  }

  private static double seconds(ProcessResult process, List<String> together) {
    return together.stream()
        .mapToDouble(query -> afterWarmUp(result(process, query).seconds()))
        .sum();
  }

  /** Sluice's processes that have a partner. */
  private Stream<ProcessResult> rounds(Shuffle partner) {
    return processes.stream()
        .filter(
            process -> process.shuffle() == Shuffle.SLUICE && sameRound(process, partner) != null);
  }

  private ProcessResult sameRound(ProcessResult sluice, Shuffle partner) {
    return processes.stream()
        .filter(process -> process.shuffle() == partner && process.round() == sluice.round())
        .findFirst()
        .orElse(null);
  }

  private static double afterWarmUp(double[] seconds) {
    return Statistics.median(Arrays.copyOfRange(seconds, 1, seconds.length));
  }

  private static QueryResult result(ProcessResult process, String query) {
    return process.queries().stream()
        .filter(result -> result.query().equals(query))
        .findFirst()
        .orElseThrow();
  }

  private static String where(ProcessResult process) {
    return process.shuffle().label() + " round " + (process.round() + 1);
  }
}
