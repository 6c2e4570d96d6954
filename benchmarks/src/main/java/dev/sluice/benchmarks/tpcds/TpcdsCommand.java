package dev.sluice.benchmarks.tpcds;

import dev.sluice.benchmarks.Directories;
import dev.sluice.benchmarks.ResultFile;
import dev.sluice.benchmarks.RunDirectory;
import dev.sluice.benchmarks.Shuffle;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.function.Supplier;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/**
 * The TPC-DS queries of Spark's own tests through Sluice and through the stock shuffle in turn, in
 * driver processes side by side.
 */
@Command(
    name = "tpcds",
    sortOptions = false,
    description = {
      "TPC-DS queries beside the stock shuffle, every answer compared",
      "Queries that take longer than their goal are run again, in as many rounds and with",
      "twice the repetitions, and their rows are of that.",
      "Exit status 0 only if all answers are right."
    })
public final class TpcdsCommand implements Callable<Integer> {
  @Option(
      names = "--queries",
      split = ",",
      paramLabel = "QUERY",
      description = "q1,q14a,... (default: all)")
  private List<String> queries = Query.all().stream().map(Query::name).toList();

  @Option(
      names = "--rounds",
      defaultValue = "2",
      description = {
        "So often driver processes are started, one of each shuffle at a time: whole",
        "processes differ (default: ${DEFAULT-VALUE})"
      })
  private int rounds;

  @Option(
      names = "--repetitions",
      defaultValue = "2",
      description = {
        "Of each query in a driver process, in turn with the other's; the first",
        "warms up and does not count (default: ${DEFAULT-VALUE})"
      })
  private int repetitions;

  @Option(
      names = "--control",
      description =
          "Run them through stock a second time, too: how far that is from stock is noise")
  private boolean control;

  @Option(
      names = "--check",
      description = "Compare answers through Sluice with Spark's golden ones, and measure nothing")
  private boolean check;

  @Option(
      names = "--json",
      paramLabel = "FILE",
      description = {
        "Write the comparisons there too, after every round. FILE.processes and",
        "FILE.again keep the rounds that have ended: the same command goes on from there"
      })
  private Path json;

  @Spec private CommandSpec spec;

  @Override
  public Integer call() throws IOException, InterruptedException {
    validate();
    Path run = RunDirectory.of("tpcds");
    TpcdsData.ensure(run.resolve("data"));
    QueryProcesses processes = new QueryProcesses(TpcdsData.directory(), run);
    TpcdsReport report = check ? check(processes) : compare(processes);
    spec.commandLine().getOut().print(check ? report.checkTable() : report.table());
    Directories.delete(run);
    return report.problems().isEmpty() ? 0 : 1;
  }

  private void validate() {
    List<String> known = Query.all().stream().map(Query::name).toList();
    for (String query : queries) {
      if (!known.contains(query)) {
        throw new ParameterException(spec.commandLine(), "there is no query " + query);
      }
    }
    if (check && control) {
      throw new ParameterException(
          spec.commandLine(), "--check compares answers through Sluice and measures nothing");
    }
    if (repetitions < 2) {
      throw new ParameterException(
          spec.commandLine(), "with --repetitions " + repetitions + " nothing counts");
    }
  }

  private TpcdsReport check(QueryProcesses processes) throws IOException, InterruptedException {
    return report(new Rounds(processes.run(0, List.of(Shuffle.SLUICE), queries, 1)), Rounds.NONE);
  }

  private TpcdsReport compare(QueryProcesses processes) throws IOException, InterruptedException {
    KeptResults first = results(".processes", shuffles(), queries, repetitions);
    run(processes, first, () -> report(first.rounds(), Rounds.NONE));
    List<String> slow = report(first.rounds(), Rounds.NONE).slow();
    spec.commandLine()
        .getOut()
        .printf("above their goal, and run again: %s%n", slow.isEmpty() ? "none" : slow);
    KeptResults again = results(".again", Shuffle.PAIR, slow, 2 * repetitions);
    if (!slow.isEmpty()) {
      run(processes, again, () -> report(first.rounds(), again.rounds()));
    }
    return report(first.rounds(), again.rounds());
  }

  private List<Shuffle> shuffles() {
    return control ? List.of(Shuffle.SLUICE, Shuffle.STOCK, Shuffle.CONTROL) : Shuffle.PAIR;
  }

  private KeptResults results(
      String suffix, List<Shuffle> shuffles, List<String> queries, int repetitions)
      throws IOException {
    return KeptResults.in(
        json == null ? null : json.resolveSibling(json.getFileName() + suffix),
        new KeptResults.Settings(shuffles, queries, repetitions));
  }

  /**
   * The rounds that are not among the results yet.
   *
   * @param report of all results so far
   */
  private void run(QueryProcesses processes, KeptResults results, Supplier<TpcdsReport> report)
      throws IOException, InterruptedException {
    KeptResults.Settings settings = results.settings();
    for (int round = 0; round < rounds; round++) {
      if (!results.has(round)) {
        results.add(
            processes.run(round, settings.shuffles(), settings.queries(), settings.repetitions()));
        if (json != null) {
          new ResultFile(json).write(report.get().comparisons());
        }
      }
    }
  }

  private TpcdsReport report(Rounds first, Rounds again) {
    return new TpcdsReport(queries, first, again);
  }
}
