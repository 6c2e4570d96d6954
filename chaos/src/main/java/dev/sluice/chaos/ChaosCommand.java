// SPDX-License-Identifier: Apache-2.0
package dev.sluice.chaos;

import dev.sluice.chaos.ChaosRuns.Cell;
import dev.sluice.chaos.ChaosRuns.ChaosFile;
import dev.sluice.chaos.fault.Fault;
import dev.sluice.chaos.fault.Faults;
import dev.sluice.chaos.workload.Workload;
import dev.sluice.testkit.RunDirectory;
import dev.sluice.testkit.Usage;
import dev.sluice.testkit.Usage.CommonOptions;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/**
 * The command bin/chaos: a workload on real executors under a fault, against the stock shuffle. All
 * of it runs on the main thread; the jobs and faults run in driver processes.
 */
@Command(
    name = "chaos",
    sortOptions = false,
    description = {
      "Run workloads in executor processes, inject a fault into each run, and compare the answers"
          + " with the stock shuffle's.",
      "The exit status is 0 only if no answer is wrong, no job hangs or fails, no stage is repeated"
          + " without need, and nothing is left behind."
    })
public final class ChaosCommand implements Callable<Integer> {
  private static final String ALL = "all";
  private static final String THREE = "three";

  /** Number of workloads for a fault that names none; each fault gets the next ones of the list. */
  private static final int WORKLOADS = 3;

  @Option(names = "--list", description = "List the faults and workloads, and exit")
  private boolean list;

  @Option(
      names = "--faults",
      split = ",",
      defaultValue = ALL,
      paramLabel = "FAULT",
      description = "Faults: all, or names (default: ${DEFAULT-VALUE})")
  private List<String> faults;

  @Option(
      names = "--workloads",
      split = ",",
      defaultValue = THREE,
      paramLabel = "WORKLOAD",
      description = "Workloads: three for each fault, all, or names (default: ${DEFAULT-VALUE})")
  private List<String> workloads;

  @Option(
      names = "--seeds",
      paramLabel = "N",
      description = "Runs of each workload under each fault (default: ${DEFAULT-VALUE})")
  private int seeds = 1;

  @Option(
      names = "--seed",
      paramLabel = "NUMBER",
      description = "First seed (default: ${DEFAULT-VALUE})")
  private long seed = 1;

  @Option(
      names = "--minutes",
      paramLabel = "N",
      description = "Minutes after which no run begins (default: ${DEFAULT-VALUE})")
  private int minutes = 1440;

  @Option(
      names = "--provider",
      paramLabel = "soft|verbs",
      description = "spark.shuffle.rdma.provider (default: ${DEFAULT-VALUE})")
  private String provider = "soft";

  @Option(
      names = "--limit",
      paramLabel = "N",
      description = "Seconds after which a job counts as hanging (default: ${DEFAULT-VALUE})")
  private int limitSeconds = 300;

  @Option(
      names = "--json",
      paramLabel = "FILE",
      description = "Keep the runs in this file, and skip runs of this commit that it has")
  private Path json;

  @Mixin
  @SuppressWarnings("UnusedVariable") // picocli reads it
  private CommonOptions common;

  @Spec private CommandSpec spec;

  public static void main(String[] arguments) {
    Usage.run(ChaosCommand::alone, arguments);
  }

  /** Returns the command bin/chaos; its help names all faults and workloads. */
  public static CommandLine alone() {
    CommandLine command = new CommandLine(new ChaosCommand());
    command
        .getCommandSpec()
        .usageMessage()
        .footer(
            "%nFAULT is one of:",
            "  all",
            names(Faults.ALL.stream().map(Fault::name)),
            "%nWORKLOAD is one of:",
            "  all",
            "  three",
            names(Workload.ALL.stream().map(Workload::name)));
    return command;
  }

  private static String names(Stream<String> names) {
    return names.map(name -> "  " + name).collect(Collectors.joining("%n"));
  }

  @Override
  public Integer call() throws Exception {
    if (list) {
      return list();
    }
    List<Fault> chosen = known(this::chosenFaults);
    known(() -> workloadsOf(Faults.ALL.getFirst()));
    try (RunDirectory directory = RunDirectory.of("chaos")) {
      if (!run(chosen, directory.path())) {
        return 1;
      }
      directory.delete();
    }
    return 0;
  }

  /** Runs faults; returns true if the report finds no failure. */
  private boolean run(List<Fault> chosen, Path directory) throws Exception {
    ChaosRuns runs =
        new ChaosRuns(
            provider,
            directory,
            new ChaosFile(json, commit()),
            limitSeconds,
            System.nanoTime() + TimeUnit.MINUTES.toNanos(minutes));
    List<Cell> cells = new ArrayList<>();
    for (Fault fault : chosen) {
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
    return new ChaosReport(runs).write(out());
  }

  private PrintWriter out() {
    return spec.commandLine().getOut();
  }

  /** Returns the commit that bin/chaos gives; "unknown" if it gives none. */
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

  /** Reports an unknown name as a usage error. */
  private <T> T known(Supplier<T> names) {
    try {
      return names.get();
    } catch (IllegalArgumentException e) {
      throw new ParameterException(spec.commandLine(), e.getMessage(), e);
    }
  }

  private List<Fault> chosenFaults() {
    return faults.equals(List.of(ALL)) ? Faults.ALL : faults.stream().map(Faults::named).toList();
  }

  private List<Workload> workloadsOf(Fault fault) {
    if (workloads.equals(List.of(ALL))) {
      return Workload.ALL;
    }
    if (!workloads.equals(List.of(THREE))) {
      return workloads.stream().map(Workload::named).toList();
    }
    List<Workload> allowed = Workload.ALL.stream().filter(fault::allows).toList();
    List<Workload> three = new ArrayList<>();
    int first = Faults.ALL.indexOf(fault) * WORKLOADS;
    for (int i = first; i < first + WORKLOADS; i++) {
      three.add(allowed.get(i % allowed.size()));
    }
    return three;
  }
}
