// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks.tpcds;

import static java.util.Objects.requireNonNull;

import dev.sluice.testkit.AnsweringProcess;
import dev.sluice.testkit.DriverProcess;
import dev.sluice.testkit.DriverProcess.ClusterConf;
import dev.sluice.testkit.Shuffle;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
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
    Map<Shuffle, QueryProcess> processes = new EnumMap<>(Shuffle.class);
    try {
      for (Shuffle shuffle : shuffles) {
        processes.put(shuffle, start(shuffle, round));
      }
      for (int i = 0; i < queries.size(); i++) {
        for (int repetition = 0; repetition < repetitions; repetition++) {
          takeTurns(processes, Shuffle.inTurn(round + i + repetition, shuffles), queries.get(i));
        }
        String last =
            processes.values().stream().map(QueryProcess::last).collect(Collectors.joining("; "));
        System.err.printf("round %d: %d/%d %s%n", round + 1, i + 1, queries.size(), last);
      }
      List<ProcessResult> results = new ArrayList<>();
      for (QueryProcess process : processes.values()) {
        results.add(process.end());
      }
      return results;
    } finally {
      processes.values().forEach(QueryProcess::close);
    }
  }

  private static void takeTurns(
      Map<Shuffle, QueryProcess> processes, List<Shuffle> order, String query)
      throws IOException, InterruptedException {
    for (Shuffle shuffle : order) {
      requireNonNull(processes.get(shuffle)).run(query);
    }
  }

  private QueryProcess start(Shuffle shuffle, int round) throws IOException, InterruptedException {
    Path directory = run.resolve(shuffle.label() + "-" + (round + 1));
    AnsweringProcess driver =
        new DriverProcess(directory)
            .start(QueryJob.class, shuffle, cluster(directory), tables.toString());
    return new QueryProcess(shuffle, round, directory, driver);
  }

  private static ClusterConf cluster(Path directory) {
    String warehouse = directory.resolve("warehouse").toUri().toString();
    return new ClusterConf(
        EXECUTORS, 1, MEMORY_MB, "auto", Map.of("spark.sql.warehouse.dir", warehouse));
  }
}
