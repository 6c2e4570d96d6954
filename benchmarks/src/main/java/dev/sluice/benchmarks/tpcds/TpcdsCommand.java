// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks.tpcds;

import dev.sluice.benchmarks.Benchmark;
import dev.sluice.benchmarks.tpcds.TpcdsReport.ProcessResult;
import dev.sluice.testkit.Shuffle;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
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
    QueryProcesses processes = new QueryProcesses(TpcdsData.directory(), run);
    List<ProcessResult> results = new ArrayList<>();
    if (check) {
      results.addAll(processes.run(0, List.of(Shuffle.SLUICE), queries, 1));
    } else {
      for (int round = 0; round < rounds; round++) {
        results.addAll(processes.run(round, Shuffle.PAIR, queries, repetitions));
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
}
