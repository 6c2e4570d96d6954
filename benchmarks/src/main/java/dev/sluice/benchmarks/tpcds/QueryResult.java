package dev.sluice.benchmarks.tpcds;

import java.util.List;
import java.util.Objects;
import java.util.function.ToDoubleFunction;

/**
 * What came of one query in one driver process.
 *
 * @param query its name
 * @param attempts in order, one at least
 */
record QueryResult(String query, List<QueryAttempt> attempts) {
  QueryAttempt last() {
    return attempts.getLast();
  }

  double[] each(ToDoubleFunction<QueryAttempt> figure) {
    return attempts.stream().mapToDouble(figure).toArray();
  }

  /** Why it failed, or how its answer is wrong; null where it is right. */
  String problem() {
    boolean differ = attempts.stream().map(QueryAttempt::answer).distinct().count() > 1;
    return attempts.stream()
        .map(QueryAttempt::problem)
        .filter(Objects::nonNull)
        .findFirst()
        .orElse(differ ? "two repetitions differ in their answers" : null);
  }
}
