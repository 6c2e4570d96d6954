package dev.sluice.benchmarks.tpcds;

import dev.sluice.benchmarks.AnsweringProcess;
import dev.sluice.benchmarks.Directories;
import dev.sluice.benchmarks.Shuffle;
import dev.sluice.benchmarks.SluiceTotals;
import java.io.IOException;
import java.nio.file.Path;
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

  /** Runs it once more, unless it has failed. */
  void run(String query) throws IOException, InterruptedException {
    QueryResult before = results.getOrDefault(query, QueryResult.none(query));
    if (before.problem() == null) {
      results.put(query, before.and(driver.ask(query, QueryAttempt.class)));
    }
  }

  /** What it did last, for people. */
  String last() {
    QueryResult result = results.lastEntry().getValue();
    double[] seconds = result.seconds();
    return result.problem() == null
        ? "%s %s %.2f s".formatted(result.query(), shuffle.label(), seconds[seconds.length - 1])
        : "%s %s: %s".formatted(result.query(), shuffle.label(), result.problem());
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
