// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks.tpcds;

import dev.sluice.benchmarks.SluiceTotals;
import dev.sluice.benchmarks.tpcds.TpcdsReport.ProcessResult;
import dev.sluice.benchmarks.tpcds.TpcdsReport.ProcessResult.QueryAttempt;
import dev.sluice.benchmarks.tpcds.TpcdsReport.ProcessResult.QueryResult;
import dev.sluice.testkit.AnsweringProcess;
import dev.sluice.testkit.Directories;
import dev.sluice.testkit.DriverProcess;
import dev.sluice.testkit.DriverProcess.ClusterConf;
import dev.sluice.testkit.Shuffle;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import java.util.stream.Collectors;

/**
 * Runs queries in concurrent driver processes, one for each shuffle, with two executors of one core
 * each. They take turns at every repetition, so that other load on a shared machine affects all of
 * them. {@link TpcdsCommand} calls it on its thread, once for each round.
 *
 * @param tables directory of the tables
 * @param run directory for the output of the processes
 */
record QueryProcesses(Path tables, Path run) {
  private static final int EXECUTORS = 2;

  /** Memory of an executor; the drivers of both shuffles and their executors fit into 24 GB. */
  private static final int MEMORY_MB = 2000;

  /**
   * Runs one round in new processes: each query so many times with each shuffle, in changing order.
   *
   * @param round index of the round, from 0
   * @param queries names of the queries, in the order in which they run
   */
  List<ProcessResult> run(int round, List<Shuffle> shuffles, List<String> queries, int repetitions)
      throws IOException, InterruptedException {
    List<QueryProcess> processes = new ArrayList<>();
    try {
      for (Shuffle shuffle : shuffles) {
        processes.add(start(shuffle, round));
      }
      for (int i = 0; i < queries.size(); i++) {
        for (int repetition = 0; repetition < repetitions; repetition++) {
          boolean inOrder = (round + i + repetition) % 2 == 0;
          for (QueryProcess process : inOrder ? processes : processes.reversed()) {
            process.run(queries.get(i));
          }
        }
        String last = processes.stream().map(QueryProcess::last).collect(Collectors.joining("; "));
        System.err.printf("round %d: %d/%d %s%n", round + 1, i + 1, queries.size(), last);
      }
      List<ProcessResult> results = new ArrayList<>();
      for (QueryProcess process : processes) {
        results.add(process.end(round));
      }
      return results;
    } finally {
      processes.forEach(process -> process.driver().close());
    }
  }

  private QueryProcess start(Shuffle shuffle, int round) throws IOException, InterruptedException {
    Path directory = run.resolve(shuffle.label() + "-" + (round + 1));
    String warehouse = directory.resolve("warehouse").toUri().toString();
    Map<String, String> conf = Map.of("spark.sql.warehouse.dir", warehouse);
    AnsweringProcess driver =
        new DriverProcess(directory)
            .start(
                QueryJob.class,
                shuffle,
                new ClusterConf(EXECUTORS, 1, MEMORY_MB, "auto", conf),
                tables.toString());
    return new QueryProcess(shuffle, directory, driver, new LinkedHashMap<>());
  }

  /**
   * A driver process that runs queries on request.
   *
   * @param directory directory of its output, deleted by {@link #end}
   * @param driver a {@link QueryJob}
   * @param results results so far by query
   */
  private record QueryProcess(
      Shuffle shuffle,
      Path directory,
      AnsweringProcess driver,
      SequencedMap<String, QueryResult> results) {
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
    ProcessResult end(int round) throws IOException, InterruptedException {
      SluiceTotals totals = driver.ask(QueryJob.TOTALS, SluiceTotals.class);
      driver.end();
      Directories.delete(directory);
      return new ProcessResult(shuffle, round, List.copyOf(results.values()), totals);
    }
  }
}
