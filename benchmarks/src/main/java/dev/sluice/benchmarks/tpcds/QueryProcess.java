package dev.sluice.benchmarks.tpcds;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.sluice.benchmarks.ClusterConf;
import dev.sluice.benchmarks.Directories;
import dev.sluice.benchmarks.DriverProcess;
import dev.sluice.benchmarks.Installation;
import dev.sluice.benchmarks.Shuffle;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/** Runs queries in a driver process with two executors of one core each. Used by one thread. */
final class QueryProcess {
  private static final int EXECUTORS = 2;
  private static final int MEMORY_MB = 3000;

  /** Map outputs of the largest query at scale 1, with older ones that wait to be removed. */
  private static final long SHUFFLE_BYTES = 2_000_000_000;

  private final Installation installation;
  private final Path tables;
  private final Path run;
  private final boolean golden;

  /**
   * @param tables directory with the tables
   * @param run directory for what processes write
   * @param golden whether the tables are those of Spark's golden answers
   */
  QueryProcess(Installation installation, Path tables, Path run, boolean golden) {
    this.installation = installation;
    this.tables = tables;
    this.run = run;
    this.golden = golden;
  }

  /**
   * @param round from 0
   * @param queries names, in the order in which they are run
   * @param repetitions of each query
   */
  ProcessResult run(Shuffle shuffle, int round, List<String> queries, int repetitions)
      throws IOException, InterruptedException {
    ObjectMapper json = new ObjectMapper();
    Path directory = run.resolve(shuffle.label() + "-" + (round + 1));
    Path result = directory.resolve("result.json");
    QueryJob.Order order =
        new QueryJob.Order(
            shuffle, round, tables.toString(), queries, repetitions, golden, result.toString());
    new DriverProcess(installation, directory)
        .run(QueryJob.class, shuffle, cluster(directory), json.writeValueAsString(order));
    ProcessResult found = json.readValue(result.toFile(), ProcessResult.class);
    Directories.delete(directory);
    return found;
  }

  private static ClusterConf cluster(Path directory) {
    String warehouse = directory.resolve("warehouse").toUri().toString();
    return new ClusterConf(
        EXECUTORS,
        1,
        MEMORY_MB,
        SHUFFLE_BYTES,
        "auto",
        Map.of("spark.sql.warehouse.dir", warehouse));
  }
}
