package dev.sluice.benchmarks.tpcds;

import dev.sluice.benchmarks.AnsweringProcess;
import dev.sluice.benchmarks.Directories;
import dev.sluice.benchmarks.Shuffle;
import dev.sluice.benchmarks.SluiceTotals;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;

/**
 * A driver process that runs a query whenever it is told to. Used by one thread, which closes it.
 */
final class QueryProcess implements AutoCloseable {
  private final Shuffle shuffle;
  private final int round;
  private final Path directory;
  private final AnsweringProcess driver;
  private final SequencedMap<String, QueryResult> results = new LinkedHashMap<>();

  /**
   * @param directory of all that it writes, deleted at its {@link #end}
   * @param driver a {@link QueryJob}, which is closed with this
   */
  QueryProcess(Shuffle shuffle, int round, Path directory, AnsweringProcess driver) {
    this.shuffle = shuffle;
    this.round = round;
    this.directory = directory;
    this.driver = driver;
  }

  /** Runs it once more, unless something is wrong with it. */
  void run(String query) throws IOException, InterruptedException {
    QueryResult result =
        results.computeIfAbsent(query, _ -> new QueryResult(query, new ArrayList<>()));
    if (result.problem() == null) {
      result.attempts().add(driver.ask(query, QueryAttempt.class));
    }
  }

  /** What it did last, for people. */
  String last() {
    QueryResult result = results.lastEntry().getValue();
    String how =
        result.problem() == null ? "%.2f s".formatted(result.last().seconds()) : result.problem();
    return "%s %s: %s".formatted(result.query(), shuffle.label(), how);
  }

  /** What came of it. */
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
