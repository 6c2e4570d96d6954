package dev.sluice.benchmarks.tpcds;

import dev.sluice.benchmarks.Comparison;
import dev.sluice.benchmarks.Comparison.Better;
import dev.sluice.benchmarks.Shuffle;
import dev.sluice.benchmarks.SluiceTotals;
import dev.sluice.benchmarks.Statistics;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
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
   * A row for each query that had no problem in any round, and their sum if that is all of them.
   */
  List<Comparison> comparisons() {
    List<Comparison> rows = new ArrayList<>();
    int rounds = (int) rounds().count();
    if (rounds == 0) {
      return rows;
    }
    double[] sluice = new double[rounds];
    double[] stock = new double[rounds];
    for (String query : queries) {
      if (problemsOf(query).isEmpty()) {
        Comparison row =
            comparison(
                query, seconds(query, Shuffle.SLUICE), seconds(query, Shuffle.STOCK), QUERY_GOAL);
        Arrays.setAll(sluice, i -> sluice[i] + row.sluice()[i]);
        Arrays.setAll(stock, i -> stock[i] + row.partnerValues()[i]);
        rows.add(row);
      }
    }
    if (rows.size() == Query.all().size()) {
      rows.add(comparison("total", sluice, stock, TOTAL_GOAL));
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
    StringBuilder table = new StringBuilder();
    List<Comparison> rows = comparisons();
    if (!rows.isEmpty()) {
      table.append("%-22s %10s %10s %8s %8s%n".formatted("", "sluice", "stock", "ratio", "goal"));
    }
    for (Comparison row : rows) {
      table.append(
          String.format(
              Locale.ROOT,
              "%-22s %8.2f s %8.2f s %8.3f %8.2f%s%n",
              row.name(),
              Statistics.median(row.sluice()),
              Statistics.median(row.partnerValues()),
              row.ratio(),
              row.goal(),
              row.reached() ? "" : " not reached"));
    }
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

  private Comparison comparison(String name, double[] sluice, double[] stock, double goal) {
    return new Comparison(prefix + name, "s", Better.LESS, sluice, "stock", stock, goal);
  }

  /** Of the rounds that both shuffles have completed. */
  private double[] seconds(String query, Shuffle shuffle) {
    return rounds()
        .map(sluice -> shuffle == Shuffle.SLUICE ? sluice : partner(sluice))
        .mapToDouble(process -> afterWarmUp(result(process, query).seconds()))
        .toArray();
  }

  private Stream<ProcessResult> rounds() {
    return processes.stream()
        .filter(process -> process.shuffle() == Shuffle.SLUICE && partner(process) != null);
  }

  private ProcessResult partner(ProcessResult sluice) {
    return processes.stream()
        .filter(p -> p.shuffle() == Shuffle.STOCK && p.round() == sluice.round())
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
