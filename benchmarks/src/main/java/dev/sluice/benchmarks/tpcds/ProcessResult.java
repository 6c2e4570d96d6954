// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks.tpcds;

import dev.sluice.benchmarks.SluiceTotals;
import dev.sluice.benchmarks.tpcds.ProcessResult.QueryAttempt;
import dev.sluice.testkit.Shuffle;
import java.util.List;
import java.util.Objects;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;

/**
 * Results of all queries in one driver process, which {@link QueryProcesses} collects.
 *
 * @param round index of the round, from 0
 * @param queries results in the order in which the queries ran
 * @param totals Sluice's counters
 */
record ProcessResult(Shuffle shuffle, int round, List<QueryResult> queries, SluiceTotals totals) {
  /** Returns the result of a query. */
  QueryResult query(String name) {
    return queries.stream().filter(result -> result.query().equals(name)).findFirst().orElseThrow();
  }

  /** Returns a description of shuffle and round. */
  String where() {
    return shuffle.label() + " round " + (round + 1);
  }

  /**
   * One repetition of a query, which {@link QueryJob} sends to the command as JSON.
   *
   * @param seconds time from the query's text to the answer's text
   * @param cpuSeconds CPU time of the executor processes meanwhile
   * @param rows number of rows of its answer
   * @param answer {@link Answer#digest} of its answer; null if it failed
   * @param problem failure, or difference from the right answer; null if there is none
   */
  record QueryAttempt(
      double seconds,
      double cpuSeconds,
      int rows,
      @Nullable String answer,
      @Nullable String problem) {}

  /**
   * Results of one query in one driver process. {@link QueryProcesses} adds the attempts; the list is
   * not changed after its process has ended.
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
