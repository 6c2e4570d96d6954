// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks.tpcds;

import dev.sluice.benchmarks.Benchmark;
import dev.sluice.benchmarks.tpcds.QueryJob.QueryResults;
import dev.sluice.benchmarks.tpcds.TpcdsReport.ProcessResult;
import dev.sluice.benchmarks.tpcds.TpcdsReport.ProcessResult.QueryResult;
import dev.sluice.testkit.AnsweringProcess;
import dev.sluice.testkit.DriverProcess;
import dev.sluice.testkit.DriverProcess.ClusterConf;
import dev.sluice.testkit.JsonFile;
import dev.sluice.testkit.Shuffle;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * The command {@code bin/bench tpcds}: the TPC-DS queries of Spark's tests through Sluice and the
 * stock shuffle in turn, in concurrent driver processes.
 */
@Command(
    name = "tpcds",
    sortOptions = false,
    description = {
      "Run the TPC-DS queries, compared with the stock shuffle, and check every answer",
      "The exit status is 0 only if all answers are right."
    })
public final class TpcdsCommand extends Benchmark {
  private static final int EXECUTORS = 2;

  /** Memory of an executor; the drivers of both shuffles and their executors fit into 24 GB. */
  private static final int MEMORY_MB = 2000;

  @Option(
      names = "--queries",
      split = ",",
      paramLabel = "QUERY",
      description = "Queries, such as q1,q14a (default: all)")
  private List<String> queries = Query.all().stream().map(Query::name).toList();

  @Option(
      names = "--rounds",
      paramLabel = "N",
      description =
          "Rounds, each with a new driver process of each shuffle, since processes differ (default:"
              + " ${DEFAULT-VALUE})")
  private int rounds = 2;

  @Option(
      names = "--repetitions",
      paramLabel = "N",
      description =
          "Runs of each query in a driver process, in turn with the other shuffle; the first warms"
              + " up and does not count (default: ${DEFAULT-VALUE})")
  private int repetitions = 2;

  @Option(
      names = "--check",
      description = "Compare answers through Sluice with Spark's golden answers, without measuring")
  private boolean check;

  @Override
  protected void measure(Path run) throws IOException, InterruptedException {
    validate();
    TpcdsData.ensure(run.resolve("data"));
    List<ProcessResult> results = new ArrayList<>();
    progress.expect(queries.size() * (check ? 1 : rounds));
    if (check) {
      results.addAll(run(run, 0, List.of(Shuffle.SLUICE), 1));
    } else {
      for (int round = 0; round < rounds; round++) {
        results.addAll(run(run, round, Shuffle.PAIR, repetitions));
      }
    }
    TpcdsReport report = new TpcdsReport(queries, results);
    if (check) {
      out().print(report.checks());
    } else {
      rows.addAll(report.comparisons());
    }
    out().println(report.transfer());
    problems.addAll(report.problems());
  }

  private void validate() {
    List<String> known = Query.all().stream().map(Query::name).toList();
    for (String query : queries) {
      if (!known.contains(query)) {
        throw misuse("unknown query " + query);
      }
    }
    if (repetitions < 2) {
      throw misuse(
          "--repetitions is " + repetitions + ", but must be at least 2: the first warms up");
    }
  }

  /**
   * Runs one round in new processes, one for each shuffle: each query so many times, in changing
   * order, so that other load on a shared machine affects all of them.
   *
   * @param run directory for the output of the processes
   * @param round index of the round, from 0
   */
  private List<ProcessResult> run(Path run, int round, List<Shuffle> shuffles, int times)
      throws IOException, InterruptedException {
    List<QueryProcess> processes = new ArrayList<>();
    try {
      for (Shuffle shuffle : shuffles) {
        processes.add(start(run.resolve(shuffle.label() + "-" + (round + 1)), shuffle));
      }
      for (int i = 0; i < queries.size(); i++) {
        progress.beginQuietly("round %d, %s".formatted(round + 1, queries.get(i)));
        for (int repetition = 0; repetition < times; repetition++) {
          boolean inOrder = (round + i + repetition) % 2 == 0;
          for (QueryProcess process : inOrder ? processes : processes.reversed()) {
            process.run(queries.get(i));
          }
        }
        String last = processes.stream().map(QueryProcess::last).collect(Collectors.joining("; "));
        progress.line("round %d: %d/%d %s".formatted(round + 1, i + 1, queries.size(), last));
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

  private static QueryProcess start(Path directory, Shuffle shuffle)
      throws IOException, InterruptedException {
    String warehouse = directory.resolve("warehouse").toUri().toString();
    Map<String, String> conf = Map.of("spark.sql.warehouse.dir", warehouse);
    Path results = directory.resolve("results.json");
    AnsweringProcess driver =
        new DriverProcess(directory)
            .start(
                QueryJob.class,
                shuffle,
                new ClusterConf(EXECUTORS, 1, MEMORY_MB, "auto", conf),
                TpcdsData.directory().toString(),
                Integer.toString(TpcdsData.SCALE),
                QueryJob.STANDARD_INPUT,
                results.toString());
    return new QueryProcess(shuffle, driver, results, new LinkedHashMap<>());
  }

  /**
   * A driver process that runs queries on request.
   *
   * @param driver a {@link QueryJob}
   * @param results file of its results
   * @param answers results so far by query
   */
  private record QueryProcess(
      Shuffle shuffle,
      AnsweringProcess driver,
      Path results,
      SequencedMap<String, QueryResult> answers) {
    /** Runs a query once more, unless it has had a problem. */
    void run(String query) throws IOException, InterruptedException {
      QueryResult earlier = answers.get(query);
      if (earlier == null || earlier.problem() == null) {
        answers.put(query, driver.ask(query, QueryResult.class));
      }
    }

    /** Describes the last query's result. */
    String last() {
      QueryResult result = answers.lastEntry().getValue();
      String how =
          result.problem() == null ? "%.2f s".formatted(result.last().seconds()) : result.problem();
      return "%s %s: %s".formatted(result.query(), shuffle.label(), how);
    }

    /** Ends the process and returns its results. */
    ProcessResult end(int round) throws IOException, InterruptedException {
      driver.end();
      QueryResults all = JsonFile.read(results, QueryResults.class);
      return new ProcessResult(shuffle, round, all.queries(), all.totals());
    }
  }
}
