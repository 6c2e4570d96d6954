package dev.sluice.benchmarks.tpcds;

import com.fasterxml.jackson.databind.ObjectMapper;
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
  private static final ObjectMapper JSON = new ObjectMapper();

  private final Shuffle shuffle;
  private final int round;
  private final Path directory;
  private final AnsweringProcess driver;
  private final SequencedMap<String, QueryResult> results = new LinkedHashMap<>();

  private QueryProcess(Shuffle shuffle, int round, Path directory, AnsweringProcess driver) {
    this.shuffle = shuffle;
    this.round = round;
    this.directory = directory;
    this.driver = driver;
  }

  /**
   * @param directory of all that it writes, deleted at its {@link #end}
   * @param driver a {@link QueryJob}, which is waited for, and closed with this
   */
  static QueryProcess of(Shuffle shuffle, int round, Path directory, AnsweringProcess driver)
      throws IOException, InterruptedException {
    try {
      driver.await();
    } catch (IOException | InterruptedException e) {
      driver.close();
      throw e;
    }
    return new QueryProcess(shuffle, round, directory, driver);
  }

  /** Runs it once more, unless it has failed. */
  void run(String query) throws IOException, InterruptedException {
    QueryResult before = results.getOrDefault(query, QueryResult.none(query));
    if (before.problem() == null) {
      QueryAttempt attempt = JSON.readValue(driver.ask(query), QueryAttempt.class);
      results.put(query, before.and(attempt));
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
    SluiceTotals totals = JSON.readValue(driver.end(), SluiceTotals.class);
    Directories.delete(directory);
    return new ProcessResult(shuffle, round, List.copyOf(results.values()), totals);
  }

  @Override
  public void close() {
    driver.close();
  }
}
