// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks.tpcds;

import dev.sluice.benchmarks.SluiceTotals;
import dev.sluice.benchmarks.tpcds.ProcessResult.QueryAttempt;
import dev.sluice.benchmarks.tpcds.ProcessResult.QueryResult;
import dev.sluice.testkit.AnsweringProcess;
import dev.sluice.testkit.Directories;
import dev.sluice.testkit.Shuffle;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;

/**
 * A driver process that runs queries on request. {@link QueryProcesses} uses it on the command's
 * thread: it ends it after the last query, and closes it in any case.
 */
final class QueryProcess implements AutoCloseable {
  private final Shuffle shuffle;
  private final int round;
  private final Path directory;
  private final AnsweringProcess driver;
  private final SequencedMap<String, QueryResult> results = new LinkedHashMap<>();

  /**
   * @param directory directory of its output, deleted by {@link #end}
   * @param driver a {@link QueryJob}, which this object closes
   */
  QueryProcess(Shuffle shuffle, int round, Path directory, AnsweringProcess driver) {
    this.shuffle = shuffle;
    this.round = round;
    this.directory = directory;
    this.driver = driver;
  }

  /** Runs a query once more, unless it has had a problem. */
  void run(String query) throws IOException, InterruptedException {
    QueryResult result =
        results.computeIfAbsent(query, _ -> new QueryResult(query, new ArrayList<>()));
    if (result.problem() == null) {
      result.attempts().add(driver.ask(query, QueryAttempt.class));
    }
  }

  /** Describes the last query's result. */
  String last() {
    QueryResult result = results.lastEntry().getValue();
    String how =
        result.problem() == null ? "%.2f s".formatted(result.last().seconds()) : result.problem();
    return "%s %s: %s".formatted(result.query(), shuffle.label(), how);
  }

  /** Ends the process and returns its results. */
  ProcessResult end() throws IOException, InterruptedException {
    SluiceTotals totals = driver.ask(QueryJob.TOTALS, SluiceTotals.class);
    driver.end();
    Directories.delete(directory);
    return new ProcessResult(shuffle, round, List.copyOf(results.values()), totals);
  }

  @Override
  public void close() {
    driver.close();
  }
}
