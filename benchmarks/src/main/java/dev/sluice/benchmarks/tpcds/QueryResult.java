// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks.tpcds;

import java.util.List;
import java.util.Objects;
import java.util.function.ToDoubleFunction;

/**
 * Results of one query in one driver process. {@link QueryProcess} adds the attempts; the list is
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

  /** Returns the failure, or the difference from the right answer; null if the answer is right. */
  String problem() {
    boolean differ = attempts.stream().map(QueryAttempt::answer).distinct().count() > 1;
    return attempts.stream()
        .map(QueryAttempt::problem)
        .filter(Objects::nonNull)
        .findFirst()
        .orElse(differ ? "two repetitions differ in their answers" : null);
  }
}
