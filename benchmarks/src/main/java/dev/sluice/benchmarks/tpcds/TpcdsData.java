package dev.sluice.benchmarks.tpcds;

import dev.sluice.benchmarks.ClusterConf;
import dev.sluice.benchmarks.Directories;
import dev.sluice.benchmarks.DriverProcess;
import dev.sluice.benchmarks.Installation;
import dev.sluice.benchmarks.Shuffle;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;

/** The tables, which stay for later runs. Used by one thread. */
final class TpcdsData {
  /** About 1 GB of text: what Spark's golden answers are of. */
  static final int SCALE = 1;

  private static final int EXECUTORS = 2;
  private static final int MEMORY_MB = 2000;

  /** What Spark writes into a table's directory after everything else. */
  private static final String COMPLETE = "_SUCCESS";

  private TpcdsData() {}

  /** A directory for every table, with its Parquet files. */
  static Path directory() {
    return Installation.fromEnvironment().data().resolve("tpcds-sf" + SCALE);
  }

  /**
   * Makes the tables unless all are there.
   *
   * @param temporary must not exist, on the same file system
   */
  static void ensure(Path temporary) throws IOException, InterruptedException {
    if (complete()) {
      return;
    }
    System.err.printf("generating %s%n", directory());
    Path tables = temporary.resolve("tables");
    new DriverProcess(temporary)
        .run(
            DataJob.class,
            Shuffle.STOCK,
            new ClusterConf(EXECUTORS, 1, MEMORY_MB, "off", Map.of()),
            tables.toString(),
            Integer.toString(EXECUTORS));
    Directories.delete(directory());
    Files.move(tables, directory());
    Directories.delete(temporary);
  }

  private static boolean complete() {
    return TableColumns.byTable().keySet().stream()
        .allMatch(table -> Files.exists(directory().resolve(table).resolve(COMPLETE)));
  }
}
