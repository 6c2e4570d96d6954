package dev.sluice.benchmarks.chaos;

import dev.sluice.benchmarks.Installation;
import dev.sluice.benchmarks.Shuffle;
import dev.sluice.benchmarks.chaos.fault.Fault;
import dev.sluice.benchmarks.chaos.fault.Faults;
import dev.sluice.benchmarks.chaos.workload.Answer;
import dev.sluice.benchmarks.chaos.workload.Workload;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** Runs workloads under faults, one after the other, and says how each went. For one thread. */
final class ChaosRuns {
  /** What every run is measured by, and has no part of the fault. */
  private static final Fault NONE = Faults.named("none");

  private final Installation installation;
  private final String provider;
  private final Path directory;
  private final ChaosFile file;
  private final int limitSeconds;
  private final long deadlineNanos;
  private final List<ChaosRun> runs;
  private final Map<Problem, Answer> answers = new HashMap<>();

  private int notBegun;

  private record Problem(String workload, long seed) {}

  /**
   * @param deadlineNanos after which no run begins
   */
  ChaosRuns(
      Installation installation,
      String provider,
      Path directory,
      ChaosFile file,
      int limitSeconds,
      long deadlineNanos)
      throws IOException {
    this.installation = installation;
    this.provider = provider;
    this.directory = directory;
    this.file = file;
    this.limitSeconds = limitSeconds;
    this.deadlineNanos = deadlineNanos;
    this.runs = new ArrayList<>(file.read());
    runs.forEach(
        run ->
            answers.put(new Problem(run.result().workload(), run.result().seed()), run.expected()));
  }

  /** All that were run, those that the file had included. */
  List<ChaosRun> all() {
    return runs;
  }

  /** Runs what the file does not have yet. */
  void run(Fault fault, List<Workload> workloads, List<Long> seeds) throws Exception {
    for (List<Workload> together : byCluster(workloads)) {
      List<Workload> left =
          together.stream().filter(workload -> !missing(fault, workload, seeds).isEmpty()).toList();
      if (!left.isEmpty() && !isOver()) {
        solve(left, seeds);
        strike(fault, left, seeds);
      }
    }
    for (Workload workload : workloads) {
      notBegun += missing(fault, workload, seeds).size();
    }
  }

  /** Runs that there was no time for. */
  int notBegun() {
    return notBegun;
  }

  private boolean isOver() {
    return System.nanoTime() - deadlineNanos >= 0;
  }

  /** Those that can share a cluster. */
  private static List<List<Workload>> byCluster(List<Workload> workloads) {
    return List.copyOf(
        workloads.stream()
            .collect(
                Collectors.groupingBy(
                    ChaosRuns::clusterSettings, LinkedHashMap::new, Collectors.toList()))
            .values());
  }

  private static Map<String, String> clusterSettings(Workload workload) {
    Map<String, String> settings = new TreeMap<>(workload.settings());
    settings.keySet().removeIf(key -> key.startsWith("spark.sql."));
    return settings;
  }

  private List<Long> missing(Fault fault, Workload workload, List<Long> seeds) {
    return seeds.stream()
        .filter(
            seed ->
                runs.stream()
                    .map(ChaosRun::result)
                    .noneMatch(
                        run ->
                            run.fault().equals(fault.name())
                                && run.workload().equals(workload.name())
                                && run.seed() == seed))
        .toList();
  }

  /** Asks the stock shuffle for answers that are not known yet. */
  private void solve(List<Workload> workloads, List<Long> seeds) throws Exception {
    try (ChaosDriver stock = driver(Shuffle.STOCK, NONE, workloads.getFirst())) {
      for (Workload workload : workloads) {
        for (long seed : seeds) {
          Problem problem = new Problem(workload.name(), seed);
          if (!answers.containsKey(problem)) {
            RunResult result = stock.run(workload, seed);
            if (result.answer() == null) {
              throw new IOException("the stock shuffle has no answer: " + result.problem());
            }
            answers.put(problem, result.answer());
          }
        }
      }
    }
  }

  private ChaosDriver driver(Shuffle shuffle, Fault fault, Workload workload) {
    return new ChaosDriver(
        installation, shuffle, provider, fault, clusterSettings(workload), limitSeconds, directory);
  }

  private void strike(Fault fault, List<Workload> workloads, List<Long> seeds) throws Exception {
    Map<String, Double> stockSeconds =
        fault.happensToStock() ? stockSeconds(fault, workloads, seeds.getFirst()) : Map.of();
    try (ChaosDriver sluice = driver(Shuffle.SLUICE, fault, workloads.getFirst())) {
      for (Workload workload : workloads) {
        for (long seed : missing(fault, workload, seeds)) {
          if (isOver()) {
            return;
          }
          RunResult result = sluice(sluice, fault, workload, seed);
          keep(
              new ChaosRun(
                  result,
                  answers.get(new Problem(workload.name(), seed)),
                  stockSeconds.get(workload.name())),
              sluice);
        }
      }
    }
  }

  /** A process that ended is a run that failed. */
  private static RunResult sluice(ChaosDriver driver, Fault fault, Workload workload, long seed)
      throws Exception {
    try {
      return driver.run(workload, seed);
    } catch (IOException e) {
      return RunResult.failed(fault, workload, seed, e.getMessage());
    }
  }

  /** One run each is what there is time for; where it fails, there is nothing to be measured by. */
  private Map<String, Double> stockSeconds(Fault fault, List<Workload> workloads, long seed)
      throws Exception {
    Map<String, Double> seconds = new HashMap<>();
    try (ChaosDriver stock = driver(Shuffle.STOCK, fault, workloads.getFirst())) {
      for (Workload workload : workloads) {
        RunResult result = sluice(stock, fault, workload, seed);
        if (result.answer() != null) {
          seconds.put(workload.name(), result.seconds());
        }
        boolean right = answers.get(new Problem(workload.name(), seed)).equals(result.answer());
        System.err.printf(
            "%s %s stock: %.1f s, %d stages again%s%n",
            fault.name(),
            workload.name(),
            result.seconds(),
            result.stageRetries(),
            result.problem() != null ? ", " + result.problem() : right ? "" : ", WRONG ANSWER");
      }
    }
    return seconds;
  }

  private void keep(ChaosRun run, ChaosDriver driver) throws IOException {
    runs.add(run);
    file.add(run);
    RunResult result = run.result();
    List<String> complaints = run.complaints();
    System.err.printf(
        "%s %s seed %d: %.1f s, %d stages again%s%n",
        result.fault(),
        result.workload(),
        result.seed(),
        result.seconds(),
        result.stageRetries(),
        complaints.isEmpty() ? "" : "\n  " + String.join("\n  ", complaints));
    if (!complaints.isEmpty()) {
      driver.keepLogs();
      System.err.printf(
          "  logs: %s%n  again: bin/chaos --provider %s --faults %s --workloads %s --seed %d%n",
          driver.directory(), provider, result.fault(), result.workload(), result.seed());
    }
  }
}
