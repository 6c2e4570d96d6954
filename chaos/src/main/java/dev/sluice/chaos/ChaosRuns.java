// SPDX-License-Identifier: Apache-2.0
package dev.sluice.chaos;

import static java.util.Objects.requireNonNull;
import static java.util.function.Predicate.not;
import static java.util.stream.Collectors.toSet;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.sluice.chaos.ChaosRun.RunResult;
import dev.sluice.chaos.ChaosRun.RunResult.Run;
import dev.sluice.chaos.ChaosRun.Stock;
import dev.sluice.chaos.fault.Fault;
import dev.sluice.chaos.fault.Faults;
import dev.sluice.chaos.workload.Workload;
import dev.sluice.testkit.Progress;
import dev.sluice.testkit.Shuffle;
import dev.sluice.testkit.Stages.Losses;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Runs workloads under faults, one after the other, and keeps the results. {@link ChaosCommand}
 * calls it on its thread. It has three drivers at a time: stock without a fault, stock under the
 * fault, and Sluice. The first two are one if the fault needs no cluster of its own. It closes them
 * before the next cluster.
 */
final class ChaosRuns {
  /** The run without a fault, by which all others are judged. */
  private static final Fault NONE = Faults.named("none");

  private final String provider;
  private final Path directory;
  private final ChaosFile file;
  private final int limitSeconds;
  private final long deadlineNanos;
  private final Progress progress = Progress.onStandardError();
  private final List<Run> asked = new ArrayList<>();
  private final Map<Run, ChaosRun> runs = new LinkedHashMap<>();

  /** Results of the stock shuffle without a fault. */
  private final Map<Run, RunResult> solutions = new HashMap<>();

  private int notMeasured;

  /** The last run on the present cluster; null before the first. */
  private @Nullable ChaosRun latest;

  /** A workload under a fault; it is run with each seed. */
  record Cell(Fault fault, Workload workload) {
    /** Returns the key of its cluster: cells with the same key can share it. */
    private List<Object> cluster() {
      return List.of(fault.cluster(), workload.settings());
    }
  }

  /**
   * @param deadlineNanos time after which no run begins
   */
  ChaosRuns(String provider, Path directory, ChaosFile file, int limitSeconds, long deadlineNanos)
      throws IOException {
    this.provider = provider;
    this.directory = directory;
    this.file = file;
    this.limitSeconds = limitSeconds;
    this.deadlineNanos = deadlineNanos;
    file.read().forEach(run -> runs.put(run.result().run(), run));
  }

  /** Returns the runs that were asked for and took place, now or earlier. */
  List<ChaosRun> all() {
    return asked.stream().filter(runs::containsKey).map(runs::get).toList();
  }

  /** Returns the number of runs that did not begin before the deadline. */
  int notBegun() {
    return asked.size() - all().size() - notMeasured;
  }

  /** Returns the cells of which no run began, so that nothing is known about them. */
  List<String> cellsNotBegun() {
    Set<String> begun = all().stream().map(run -> cell(run.result().run())).collect(toSet());
    return asked.stream().map(ChaosRuns::cell).distinct().filter(not(begun::contains)).toList();
  }

  private static String cell(Run run) {
    return run.fault() + " " + run.workload();
  }

  /** Returns the number of runs for which the stock shuffle had no answer. */
  int notMeasured() {
    return notMeasured;
  }

  /** Runs the cells that the file lacks; groups them by the cluster that they can share. */
  void run(List<Cell> cells, List<Long> seeds) throws Exception {
    for (Cell cell : cells) {
      seeds.forEach(seed -> asked.add(key(cell, seed)));
    }
    progress.expect((int) asked.stream().filter(not(runs::containsKey)).count());
    Map<Object, List<Cell>> clusters = new LinkedHashMap<>();
    cells.forEach(
        cell -> clusters.computeIfAbsent(cell.cluster(), _ -> new ArrayList<>()).add(cell));
    for (List<Cell> together : clusters.values()) {
      Fault fault = together.getFirst().fault();
      boolean own = !fault.cluster().equals(NONE.cluster());
      latest = null;
      try (ChaosDriver stock = driver(Shuffle.STOCK, NONE, together);
          ChaosDriver struck = own ? driver(Shuffle.STOCK, fault, together) : stock;
          ChaosDriver sluice = driver(Shuffle.SLUICE, fault, together)) {
        run(together, seeds, stock, struck, sluice);
      } catch (IOException e) {
        blame(latest, String.valueOf(e.getMessage()));
      }
    }
    progress.clear();
  }

  /** Marks the last run on a cluster as failed, because the cluster did not end as it should. */
  private void blame(@Nullable ChaosRun last, String problem) throws IOException {
    progress.line(problem);
    if (last != null) {
      Run run = last.result().run();
      ChaosRun blamed = new ChaosRun(RunResult.failed(run, problem), last.expected(), last.stock());
      runs.put(run, blamed);
      file.add(blamed);
    }
  }

  private void run(
      List<Cell> cells, List<Long> seeds, ChaosDriver stock, ChaosDriver struck, ChaosDriver sluice)
      throws Exception {
    Map<Cell, Stock> measured = new HashMap<>();
    for (long seed : seeds) {
      for (Cell cell : cells) {
        Run run = key(cell, seed);
        if (runs.containsKey(run) || System.nanoTime() - deadlineNanos >= 0) {
          continue;
        }
        progress.beginQuietly("%s %s seed %d".formatted(run.fault(), run.workload(), seed));
        try {
          RunResult solution = solve(stock, cell.workload(), seed);
          if (!cell.fault().happensToStock()) {
            measured.put(cell, new Stock(solution.seconds(), Losses.NONE));
          } else if (!measured.containsKey(cell)) {
            measured.put(cell, stock(result(struck, run), solution));
          }
          keep(
              new ChaosRun(
                  result(sluice, run), requireNonNull(solution.answer()), measured.get(cell)),
              sluice);
        } catch (IOException e) {
          notMeasured++;
          progress.line("%s: %s".formatted(run, e.getMessage()));
        }
      }
    }
  }

  private Run key(Cell cell, long seed) {
    return new Run(provider, cell.fault().name(), cell.workload().name(), seed);
  }

  private ChaosDriver driver(Shuffle shuffle, Fault fault, List<Cell> together) {
    return new ChaosDriver(
        shuffle,
        provider,
        fault,
        together.getFirst().workload().settings(),
        limitSeconds,
        directory);
  }

  /** Returns the stock shuffle's answer; runs the workload if the answer is not known yet. */
  private RunResult solve(ChaosDriver stock, Workload workload, long seed) throws Exception {
    Run run = new Run(provider, NONE.name(), workload.name(), seed);
    RunResult known = solutions.get(run);
    if (known != null) {
      return known;
    }
    RunResult result = stock.run(run);
    if (result.answer() == null) {
      throw new IOException("the stock shuffle gave no answer: " + result.problem());
    }
    solutions.put(run, result);
    return result;
  }

  /** Runs under the fault; reports a process that ended as a failed run. */
  private static RunResult result(ChaosDriver driver, Run run) throws Exception {
    try {
      return driver.run(run);
    } catch (IOException e) {
      return RunResult.failed(run, String.valueOf(e.getMessage()));
    }
  }

  /**
   * Returns time and losses of the stock shuffle under a fault, or its time without the fault if it
   * failed. There is time for one run only.
   */
  private Stock stock(RunResult stock, RunResult solution) {
    progress.line(
        "%s %s stock: %.1f s, %s%s"
            .formatted(
                stock.run().fault(),
                stock.run().workload(),
                stock.seconds(),
                stock.losses(),
                stock.problem() != null
                    ? ", " + stock.problem()
                    : requireNonNull(stock.answer()).equals(solution.answer())
                        ? ""
                        : ", WRONG ANSWER"));
    return new Stock(
        stock.answer() == null ? solution.seconds() : stock.seconds(),
        stock.answer() == null || !stock.struck() ? null : stock.losses());
  }

  private void keep(ChaosRun run, ChaosDriver driver) throws IOException {
    RunResult result = run.result();
    Run key = result.run();
    runs.put(key, run);
    latest = run;
    file.add(run);
    List<String> complaints = run.complaints();
    progress.line(
        "%s %s seed %d: %s%.1f s, %d stages repeated%s"
            .formatted(
                key.fault(),
                key.workload(),
                key.seed(),
                result.cause().equals(key.fault()) ? "" : result.cause() + ", ",
                result.seconds(),
                result.losses().stageRetries(),
                complaints.isEmpty() ? "" : "\n  " + String.join("\n  ", complaints)));
    if (!complaints.isEmpty()) {
      driver.keepLogs();
      progress.line(
          "  logs: %s%n  repeat: bin/chaos --provider %s --faults %s --workloads %s --seed %d"
              .formatted(driver.directory(), provider, key.fault(), key.workload(), key.seed()));
    }
  }

  /**
   * File of runs, one JSON object per line, so that a series that is cut off loses nothing. {@link
   * ChaosRuns} reads it at its start and adds each run when it ends; of a run that is there twice
   * the last counts.
   *
   * @param file null for no file
   * @param commit commit of this program, stored with each run
   */
  record ChaosFile(@Nullable Path file, String commit) {
    private static final ObjectMapper JSON = new ObjectMapper();

    /** A line of the file: a run, and the commit that it ran. */
    record Line(String commit, ChaosRun run) {}

    /**
     * @throws IOException if it has runs of another commit, which say nothing about this one
     */
    List<ChaosRun> read() throws IOException {
      List<ChaosRun> runs = new ArrayList<>();
      if (file != null && Files.exists(file)) {
        String lines = Files.readString(file);
        // The last line is incomplete if a series was cut off.
        for (String line : lines.substring(0, lines.lastIndexOf('\n') + 1).lines().toList()) {
          Line kept = JSON.readValue(line, Line.class);
          if (!commit.equals(kept.commit())) {
            throw new IOException(
                "%s has runs of commit %s, but this is commit %s; choose another file"
                    .formatted(file, kept.commit(), commit));
          }
          runs.add(kept.run());
        }
      }
      return runs;
    }

    void add(ChaosRun run) throws IOException {
      if (file != null) {
        Files.writeString(
            file,
            JSON.writeValueAsString(new Line(commit, run)) + "\n",
            StandardOpenOption.CREATE,
            StandardOpenOption.APPEND);
      }
    }
  }
}
