package dev.sluice.benchmarks.tpcds;

import java.util.Arrays;

/**
 * What came of one query in one driver process.
 *
 * @param query its name
 * @param seconds of its repetitions, from the text of the query to the text of the answer
 * @param cpuSeconds of the executors' processes meanwhile
 * @param rows of its answer
 * @param answer {@link Answer#digest} of its answer, the same in all repetitions
 * @param problem why it failed, or how its answer is wrong, or null
 */
record QueryResult(
    String query, double[] seconds, double[] cpuSeconds, int rows, String answer, String problem) {
  /** Before it was run. */
  static QueryResult none(String query) {
    return new QueryResult(query, new double[0], new double[0], 0, null, null);
  }

  /** With one repetition more. */
  QueryResult and(QueryAttempt attempt) {
    String wrong = attempt.problem();
    if (wrong == null && answer != null && !answer.equals(attempt.answer())) {
      wrong = "two repetitions differ in their answers";
    }
    return new QueryResult(
        query,
        and(seconds, attempt.seconds()),
        and(cpuSeconds, attempt.cpuSeconds()),
        attempt.rows(),
        attempt.answer(),
        wrong);
  }

  private static double[] and(double[] values, double value) {
    double[] all = Arrays.copyOf(values, values.length + 1);
    all[values.length] = value;
    return all;
  }
}
