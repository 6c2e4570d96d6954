// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks.tpcds;

import dev.sluice.benchmarks.SluiceTotals;
import dev.sluice.benchmarks.tpcds.TpcdsReport.ProcessResult;
import dev.sluice.benchmarks.tpcds.TpcdsReport.ProcessResult.QueryAttempt;
import dev.sluice.benchmarks.tpcds.TpcdsReport.ProcessResult.QueryResult;
import dev.sluice.testkit.Shuffle;
import java.util.List;
import java.util.Map;

/** Results of driver processes, made up. */
final class SampleResults {
  private SampleResults() {}

  static ProcessResult of(Shuffle shuffle, int round, QueryResult... queries) {
    SluiceTotals totals =
        shuffle == Shuffle.STOCK
            ? SluiceTotals.NONE
            : new SluiceTotals("soft soft0", 7, Map.of("read.bytes", 7L));
    return new ProcessResult(shuffle, round, List.of(queries), totals);
  }

  /** Repetitions of ten times as long, which warms up, and of as long; both executors busy. */
  static QueryResult query(String name, double seconds) {
    return query(name, seconds, "5abc");
  }

  static QueryResult query(String name, double seconds, String answer) {
    return new QueryResult(
        name,
        List.of(
            new QueryAttempt(10 * seconds, 20 * seconds, 3, answer, null),
            new QueryAttempt(seconds, 2 * seconds, 3, answer, null)));
  }

  static QueryResult failed(String name, String problem) {
    return new QueryResult(name, List.of(new QueryAttempt(1, 0, 0, null, problem)));
  }
}
