package dev.sluice.benchmarks.chaos;

import dev.sluice.benchmarks.Directories;
import dev.sluice.benchmarks.RunDirectory;
import dev.sluice.benchmarks.StandardOutput;
import dev.sluice.benchmarks.chaos.ChaosRuns.Cell;
import dev.sluice.benchmarks.chaos.fault.Fault;
import dev.sluice.benchmarks.chaos.fault.Faults;
import dev.sluice.benchmarks.chaos.workload.Workload;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** The command bin/chaos: real executors, a workload, a fault, and the stock shuffle's answer. */
@Command(
    name = "chaos",
    sortOptions = false,
    description = {
      "Runs workloads in executor processes while something goes wrong, and compares",
      "the answers with the stock shuffle's. Exit status 0 only with no wrong answer,",
      "no hang, no failure, no stage repeated without need, and nothing left behind."
    })
public final class ChaosCommand implements Callable<Integer> {
  private static final String ALL = "all";

  /** A fault that says nothing else gets so many workloads, each fault the next ones. */
  private static final int WORKLOADS = 3;

  @Option(
      names = {"-h", "--help"},
      usageHelp = true,
      description = "Show this and exit")
  private boolean help;

  @Option(names = "--list", description = "Say which faults and workloads there are, and exit")
  private boolean list;

  @Option(
      names = "--faults",
      split = ",",
      defaultValue = ALL,
      paramLabel = "NAME",
      description = "all, or names (default: ${DEFAULT-VALUE})")
  private List<String> faults;

  @Option(
      names = "--workloads",
      split = ",",
      defaultValue = "three",
      paramLabel = "NAME",
      description = "three for each fault, all, or names (default: ${DEFAULT-VALUE})")
  private List<String> workloads;

  @Option(
      names = "--seeds",
      description = "Runs of each workload under each fault (default: ${DEFAULT-VALUE})")
  private int seeds = 1;

  @Option(names = "--seed", description = "The first seed (default: ${DEFAULT-VALUE})")
  private long seed = 1;

  @Option(
      names = "--minutes",
      description = "Begin no run after so many (default: ${DEFAULT-VALUE})")
  private int minutes = 1440;

  @Option(
      names = "--provider",
      description = "spark.shuffle.rdma.provider: soft or verbs (default: ${DEFAULT-VALUE})")
  private String provider = "soft";

  @Option(
      names = "--limit",
      paramLabel = "SECONDS",
      description = "A job that takes longer hangs (default: ${DEFAULT-VALUE})")
  private int limitSeconds = 300;

  @Option(
      names = "--json",
      paramLabel = "FILE",
      description = "Keep the runs there, and do not repeat those that it has of this commit")
  private Path json;

  @Spec private CommandSpec spec;

  public static void main(String[] arguments) {
    StandardOutput.run(() -> new CommandLine(new ChaosCommand()), arguments);
  }

  @Override
  public Integer call() throws Exception {
    if (list) {
      return list();
    }
    Path directory = RunDirectory.of("chaos");
    ChaosRuns runs =
        new ChaosRuns(
            provider,
            directory,
            new ChaosFile(json, commit()),
            limitSeconds,
            System.nanoTime() + TimeUnit.MINUTES.toNanos(minutes));
    List<Cell> cells = new ArrayList<>();
    for (Fault fault : chosenFaults()) {
      String unavailable = fault.unavailable(provider);
      if (unavailable != null) {
        out().printf("%s is skipped: %s%n", fault.name(), unavailable);
        continue;
      }
      workloadsOf(fault).stream()
          .filter(fault::allows)
          .forEach(workload -> cells.add(new Cell(fault, workload)));
    }
    runs.run(cells, LongStream.range(seed, seed + seeds).boxed().toList());
    return report(runs, directory);
  }

  private PrintWriter out() {
    return spec.commandLine().getOut();
  }

  /** As bin/chaos says; where that does not know, all are one. */
  private static String commit() {
    return System.getenv().getOrDefault("SLUICE_COMMIT", "unknown");
  }

  private int list() {
    out().println("Faults:");
    Faults.ALL.forEach(fault -> out().printf("  %-22s %s%n", fault.name(), fault.what()));
    out().println("Workloads:");
    Workload.ALL.forEach(workload -> out().printf("  %s%n", workload.name()));
    return 0;
  }

  private List<Fault> chosenFaults() {
    return faults.equals(List.of(ALL)) ? Faults.ALL : faults.stream().map(Faults::named).toList();
  }

  private List<Workload> workloadsOf(Fault fault) {
    if (workloads.equals(List.of(ALL))) {
      return Workload.ALL;
    }
    if (!workloads.equals(List.of("three"))) {
      return workloads.stream().map(Workload::named).toList();
    }
    if (!fault.workloads().isEmpty()) {
      return fault.workloads().stream().map(Workload::named).toList();
    }
    List<Workload> allowed = Workload.ALL.stream().filter(fault::allows).toList();
    List<Workload> three = new ArrayList<>();
    int first = Faults.ALL.indexOf(fault) * WORKLOADS;
    for (int i = first; i < first + WORKLOADS; i++) {
      three.add(allowed.get(i % allowed.size()));
    }
    return three;
  }

  private int report(ChaosRuns series, Path directory) throws IOException {
    List<ChaosRun> runs = series.all();
    if (runs.isEmpty()) {
      System.err.println("nothing was run");
      return 1;
    }
    out().print(ChaosTable.of(runs));
    long bad = runs.stream().filter(run -> !run.complaints().isEmpty()).count();
    List<String> missed = ChaosTable.neverStruck(runs);
    missed.forEach(group -> out().println("showed nothing: " + group));
    List<String> grown = HeldLevels.grown(runs);
    grown.forEach(what -> out().println("grew: " + what));
    out()
        .printf(
            "%d of %d runs without complaint, %d not begun, %d without an answer of the stock shuffle%n",
            runs.size() - bad, runs.size(), series.notBegun(), series.notMeasured());
    series.cellsNotBegun().forEach(cell -> out().println("not begun: " + cell));
    if (bad > 0
        || !missed.isEmpty()
        || !grown.isEmpty()
        || !series.cellsNotBegun().isEmpty()
        || series.notMeasured() > 0) {
      return 1;
    }
    Directories.delete(directory);
    return 0;
  }
}
