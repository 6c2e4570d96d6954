package dev.sluice.benchmarks.tpcds;

import dev.sluice.benchmarks.Shuffle;
import dev.sluice.benchmarks.SluiceTotals;
import java.util.List;

/**
 * What came of all queries in one driver process.
 *
 * @param round from 0
 * @param queries in the order in which they were run
 * @param totals Sluice's own counters
 */
record ProcessResult(Shuffle shuffle, int round, List<QueryResult> queries, SluiceTotals totals) {
  /** What came of that one. */
  QueryResult query(String name) {
    return queries.stream().filter(result -> result.query().equals(name)).findFirst().orElseThrow();
  }

  /** In words. */
  String where() {
    return shuffle.label() + " round " + (round + 1);
  }
}
