// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks.tpcds;

import dev.sluice.benchmarks.SluiceTotals;
import dev.sluice.testkit.Shuffle;
import java.util.List;

/**
 * Results of all queries in one driver process, which {@link QueryProcess} collects in the command.
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
}
