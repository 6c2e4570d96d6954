// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks.tpcds;

import dev.sluice.benchmarks.Comparison;
import dev.sluice.benchmarks.SluiceTotals;
import dev.sluice.benchmarks.tpcds.TpcdsReport.ProcessResult.QueryAttempt;
import dev.sluice.benchmarks.tpcds.TpcdsReport.ProcessResult.QueryResult;
import dev.sluice.testkit.Shuffle;
import dev.sluice.testkit.Spread;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeSet;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;

/**
 * Combines the results of driver processes and finds their problems. {@link TpcdsCommand} creates
 * it after the last process. The first repetition of each process is a warm-up and does not count.
 *
 * @param queries names of the queries that had to run
 * @param processes results of each round, one for each shuffle that had to run
 */
record TpcdsReport(List<String> queries, List<ProcessResult> processes) {
  private static final String PREFIX = "tpcds-sf" + TpcdsData.SCALE + "-";

  /**
   * Returns a row for each query without a problem in any round. If all queries are there, adds the
   * sums of time and of the executors' CPU time.
   */
  List<Comparison> comparisons() {
    List<String> valid = queries.stream().filter(query -> problemsOf(query).isEmpty()).toList();
    List<Comparison> rows = new ArrayList<>();
    valid.forEach(query -> rows.add(row(query, List.of(query), QueryAttempt::seconds)));
    if (valid.size() == Query.all().size()) {
      rows.add(row("total", valid, QueryAttempt::seconds));
      rows.add(row("total-cpu", valid, QueryAttempt::cpuSeconds));
    }
    return rows;
  }

  private Comparison row(
      String name, List<String> together, ToDoubleFunction<QueryAttempt> figure) {
    return Comparison.ofSeconds(PREFIX + name, shuffle -> sums(shuffle, together, figure));
  }

  /** Returns the sum of each round. */
  private double[] sums(
      Shuffle shuffle, List<String> together, ToDoubleFunction<QueryAttempt> figure) {
    return processes.stream()
        .filter(process -> process.shuffle() == shuffle)
        .mapToDouble(
            process ->
                together.stream()
                    .mapToDouble(query -> afterWarmUp(process.query(query).each(figure)))
                    .sum())
        .toArray();
  }

  private static double afterWarmUp(double[] values) {
    return Spread.median(Arrays.copyOfRange(values, 1, values.length));
  }

  /** Returns why the run is invalid; empty if all answers are right and Sluice was used. */
  List<String> problems() {
    List<String> problems = new ArrayList<>();
    queries.forEach(query -> problems.addAll(problemsOf(query)));
    for (ProcessResult process : processes) {
      if (process.shuffle() == Shuffle.SLUICE && process.totals().readBytes() == 0) {
        problems.add(process.where() + ": nothing was READ");
      }
    }
    return problems;
  }

  private List<String> problemsOf(String query) {
    List<String> problems = new ArrayList<>();
    TreeSet<String> answers = new TreeSet<>();
    for (ProcessResult process : processes) {
      QueryResult result = process.query(query);
      if (result.problem() != null) {
        problems.add("%s, %s: %s".formatted(query, process.where(), result.problem()));
      } else {
        answers.add(result.last().answer());
      }
    }
    if (answers.size() > 1) {
      problems.add(query + ": the answers of driver processes differ");
    }
    return problems;
  }

  /** Returns, for a run that compares no times, how the answers of one process were checked. */
  String checks() {
    StringBuilder table = new StringBuilder();
    for (QueryResult result : processes.getFirst().queries()) {
      String exclusion = new Query(result.query()).exclusion();
      String verdict = exclusion == null ? "golden" : "not compared: " + exclusion;
      table.append(
          "%-6s %6d rows  %s%n"
              .formatted(
                  result.query(),
                  result.last().rows(),
                  result.problem() == null ? verdict : result.problem()));
    }
    return table.toString();
  }

  String transfer() {
    SluiceTotals totals = SluiceTotals.sum(processes.stream().map(ProcessResult::totals));
    Map<String, Long> fallbacks = totals.fallbackBlocks();
    return "bytes READ: %d; blocks that fell back: %s"
        .formatted(totals.readBytes(), fallbacks.isEmpty() ? "none" : fallbacks);
  }

  /**
   * Results of all queries in one driver process, which {@link TpcdsCommand} collects.
   *
   * @param round index of the round, from 0
   * @param queries results in the order in which the queries ran
   * @param totals Sluice's counters
   */
  record ProcessResult(Shuffle shuffle, int round, List<QueryResult> queries, SluiceTotals totals) {
    /** Returns the result of a query. */
    QueryResult query(String name) {
      return queries.stream()
          .filter(result -> result.query().equals(name))
          .findFirst()
          .orElseThrow();
    }

    /** Returns a description of shuffle and round. */
    String where() {
      return shuffle.label() + " round " + (round + 1);
    }

    /**
     * One repetition of a query in {@link QueryJob}.
     *
     * @param seconds time from the query's text to the answer's text; 0 if it failed
     * @param cpuSeconds CPU time of the executor processes meanwhile; 0 if it failed, or on a
     *     cluster, where they are not children of the driver
     * @param rows number of rows of its answer
     * @param answer {@link Answer#digest} of its answer; null if it failed
     * @param problem failure, or difference from the golden answer; null if there is none, or no
     *     golden answer
     */
    record QueryAttempt(
        double seconds,
        double cpuSeconds,
        int rows,
        @Nullable String answer,
        @Nullable String problem) {}

    /**
     * Results of one query in one driver process, which {@link QueryJob} sends to the command as
     * JSON. It adds the attempts.
     *
     * @param query name of the query
     * @param attempts repetitions in order, at least one
     */
    record QueryResult(String query, List<QueryAttempt> attempts) {
      QueryAttempt last() {
        return attempts.getLast();
      }

      double[] each(ToDoubleFunction<QueryAttempt> figure) {
        return attempts.stream().mapToDouble(figure).toArray();
      }

      /**
       * Returns the failure, or the difference from the right answer; null if the answer is right.
       */
      @Nullable String problem() {
        boolean differ = attempts.stream().map(QueryAttempt::answer).distinct().count() > 1;
        return attempts.stream()
            .map(QueryAttempt::problem)
            .filter(Objects::nonNull)
            .findFirst()
            .orElse(differ ? "two repetitions differ in their answers" : null);
      }
    }
  }
}
