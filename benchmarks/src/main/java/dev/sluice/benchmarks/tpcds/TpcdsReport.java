package dev.sluice.benchmarks.tpcds;

import dev.sluice.benchmarks.Comparison;
import dev.sluice.benchmarks.ComparisonTable;
import dev.sluice.benchmarks.Shuffle;
import dev.sluice.benchmarks.SluiceTotals;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.stream.Stream;

/** Puts the results of driver processes together, and finds what is wrong with them. */
final class TpcdsReport {
  private static final double QUERY_GOAL = 1.05;
  private static final String PREFIX = "tpcds-sf" + TpcdsData.SCALE + "-";

  private final List<String> queries;
  private final Rounds first;
  private final Rounds again;

  /**
   * @param queries names of those that were to run
   * @param first rounds of all of them
   * @param again rounds of those that were {@link #slow} in the first
   */
  TpcdsReport(List<String> queries, Rounds first, Rounds again) {
    this.queries = queries;
    this.first = first;
    this.again = again;
  }

  /**
   * A row for each query that had no problem in any round. One that was run again has its row from
   * that alone: it was chosen for what it took before. And the sums of the first rounds, of time
   * and of the executors' CPU time, if all queries were valid in them.
   */
  List<Comparison> comparisons() {
    List<Comparison> rows = new ArrayList<>();
    for (String query : compared(processes())) {
      rows.add(row(again.have(Shuffle.STOCK, query) ? again : first, query));
    }
    List<String> valid = compared(first.processes());
    if (valid.size() == Query.all().size()) {
      rows.add(first.comparison(PREFIX + "total", valid));
      rows.add(first.cpu(PREFIX + "total-cpu", valid));
    }
    return rows;
  }

  /** Queries that are above their goal by the first rounds. */
  List<String> slow() {
    return compared(first.processes()).stream()
        .filter(query -> !row(first, query).reached())
        .toList();
  }

  /** Queries that have no problem in any of the processes. */
  private List<String> compared(List<ProcessResult> processes) {
    return queries.stream()
        .filter(query -> problemsOf(query, processes).isEmpty() && first.have(Shuffle.STOCK, query))
        .toList();
  }

  private Comparison row(Rounds rounds, String query) {
    return rounds.comparison(PREFIX + query, List.of(query));
  }

  /** What makes the run invalid; nothing if all answers are right and went through Sluice. */
  List<String> problems() {
    List<String> problems = new ArrayList<>();
    queries.forEach(query -> problems.addAll(problemsOf(query, processes())));
    // Not of those that were run again: a few small queries may find all their blocks local.
    for (ProcessResult process : first.processes()) {
      if (process.shuffle() == Shuffle.SLUICE && process.totals().readBytes() == 0) {
        problems.add(where(process) + ": nothing was READ");
      }
    }
    return problems;
  }

  String table() {
    StringBuilder table = new StringBuilder(ComparisonTable.plain(comparisons()));
    problems().forEach(problem -> table.append("INVALID ").append(problem).append('\n'));
    return table.append(noise()).append(transfer()).toString();
  }

  /** How far stock is from itself: so far from 1 a ratio says nothing. */
  private String noise() {
    List<String> valid = compared(first.processes());
    if (valid.isEmpty() || !first.have(Shuffle.CONTROL, valid.getFirst())) {
      return "";
    }
    double[] ratios =
        valid.stream()
            .mapToDouble(query -> first.noise(List.of(query), QueryResult::seconds).ratio())
            .sorted()
            .toArray();
    long above = Arrays.stream(ratios).filter(ratio -> ratio > QUERY_GOAL).count();
    return "stock by stock: all %.3f, CPU %.3f; %d of %d queries above %.2f, worst %.2f%n"
        .formatted(
            first.noise(valid, QueryResult::seconds).ratio(),
            first.noise(valid, QueryResult::cpuSeconds).ratio(),
            above,
            ratios.length,
            QUERY_GOAL,
            ratios[ratios.length - 1]);
  }

  /** Whether the answers of one process are right: for a run that compares no times. */
  String checkTable() {
    StringBuilder table = new StringBuilder();
    for (ProcessResult process : processes()) {
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
    SluiceTotals totals = SluiceTotals.sum(processes().stream().map(ProcessResult::totals));
    Map<String, Long> fallbacks = totals.fallbackBlocks();
    return "bytes READ: %d; blocks that fell back: %s%n"
        .formatted(totals.readBytes(), fallbacks.isEmpty() ? "none" : fallbacks);
  }

  private List<String> problemsOf(String query, List<ProcessResult> processes) {
    List<String> problems = new ArrayList<>();
    TreeSet<String> answers = new TreeSet<>();
    for (ProcessResult process : processes) {
      QueryResult result = process.query(query).orElse(null);
      if (result == null) {
        continue;
      }
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

  private List<ProcessResult> processes() {
    return Stream.concat(first.processes().stream(), again.processes().stream()).toList();
  }

  private String where(ProcessResult process) {
    String which = again.processes().contains(process) ? "repeated round " : "round ";
    return process.shuffle().label() + " " + which + (process.round() + 1);
  }
}
