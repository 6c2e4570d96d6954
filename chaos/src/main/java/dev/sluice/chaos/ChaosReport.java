// SPDX-License-Identifier: Apache-2.0
package dev.sluice.chaos;

import static java.util.stream.Collectors.groupingBy;
import static java.util.stream.Collectors.toList;

import dev.sluice.chaos.ChaosRun.RunResult;
import dev.sluice.chaos.ChaosRun.RunResult.Outcome;
import dev.sluice.chaos.fault.Faults;
import dev.sluice.testkit.Columns;
import dev.sluice.testkit.Spread;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;

/**
 * Report of a series of runs: a table, then a line for each problem. Runs that did not begin before
 * the deadline are listed, but are no problem. {@link ChaosCommand} writes it at its end.
 *
 * @param series a series whose runs have ended
 */
record ChaosReport(ChaosRuns series) {
  /** Columns of the table between fault and workload and the times, with the runs that count. */
  private static final Map<String, Predicate<ChaosRun>> COUNTS = new LinkedHashMap<>();

  static {
    COUNTS.put("runs", _ -> true);
    COUNTS.put("struck", ChaosRun::isTelling);
    COUNTS.put("wrong", ChaosRun::isWrong);
    COUNTS.put("hangs", run -> run.ended(Outcome.HANG));
    COUNTS.put("failed", run -> run.ended(Outcome.FAILED) || run.ended(Outcome.HARNESS));
    COUNTS.put("unexpected losses", ChaosRun::hasUnexpectedLosses);
    COUNTS.put("leaks", ChaosRun::isLeak);
    COUNTS.put("late", ChaosRun::isLate);
  }

  /** Minimum number of runs of a series on the same executors; fewer do not show a level. */
  private static final int LEVEL_RUNS = 40;

  /** Factor by which a level may grow, in addition to its slack. */
  private static final double LEVEL_RATIO = 1.25;

  /** Amount by which a level may vary by chance, in its own unit. */
  private static final Map<String, Double> LEVEL_SLACK =
      Map.of(
          "descriptors", 32.0,
          "threads", 32.0,
          "mapped files", 64.0,
          "resident", (double) (64 << 20),
          "heap", (double) (32 << 20));

  /**
   * Writes the report.
   *
   * @return true if at least one run took place and there is no problem
   */
  boolean write(PrintWriter out) {
    List<ChaosRun> runs = series.all();
    if (runs.isEmpty()) {
      out.println("no run took place");
      return false;
    }
    long bad = runs.stream().filter(run -> !run.complaints().isEmpty()).count();
    List<String> wrong = new ArrayList<>();
    neverStruck(runs).forEach(group -> wrong.add("struck no job that READ blocks: " + group));
    grown(runs).forEach(what -> wrong.add("grew: " + what));
    out.print(table(runs));
    wrong.forEach(out::println);
    out.printf(
        "%d of %d runs have no complaint; %d did not begin; %d have no answer of the stock"
            + " shuffle%n",
        runs.size() - bad, runs.size(), series.notBegun(), series.notMeasured());
    series.cellsNotBegun().forEach(cell -> out.println("did not begin: " + cell));
    return bad == 0 && wrong.isEmpty() && series.notMeasured() == 0;
  }

  /** Returns a table of fault by workload, in Markdown that also reads as plain text. */
  static String table(List<ChaosRun> runs) {
    List<String> header = new ArrayList<>(List.of("fault", "workload"));
    header.addAll(COUNTS.keySet());
    header.addAll(List.of("recovery s, median", "max", "stock s"));
    List<List<String>> lines = new ArrayList<>();
    lines.add(header);
    lines.add(header.stream().map(column -> "-".repeat(column.length())).toList());
    groups(runs).forEach((group, members) -> lines.add(line(group.get(0), group.get(1), members)));
    lines.add(line("all", "", runs));
    return Columns.align(lines, "| ", " | ", " |");
  }

  /** Returns faults with workloads in none of whose runs the fault struck: they show nothing. */
  static List<String> neverStruck(List<ChaosRun> runs) {
    return groups(runs).entrySet().stream()
        .filter(group -> group.getValue().stream().noneMatch(ChaosRun::isTelling))
        .map(group -> String.join(" ", group.getKey()))
        .sorted()
        .toList();
  }

  private static Map<List<String>, List<ChaosRun>> groups(List<ChaosRun> runs) {
    return runs.stream().collect(groupingBy(ChaosReport::group, LinkedHashMap::new, toList()));
  }

  /** Returns the group of a run. A fault that stands for several counts under each that struck. */
  private static List<String> group(ChaosRun run) {
    String fault = run.result().run().fault();
    return run.result().cause().equals(fault)
        ? List.of(fault, run.result().run().workload())
        : List.of(fault + ": " + run.result().cause(), "");
  }

  private static List<String> line(String fault, String workload, List<ChaosRun> runs) {
    double[] recovery =
        runs.stream()
            .filter(run -> run.result().answer() != null)
            .mapToDouble(run -> run.result().recoverySeconds())
            .toArray();
    List<String> line = new ArrayList<>(List.of(fault, workload));
    COUNTS.values().forEach(which -> line.add("" + runs.stream().filter(which).count()));
    line.add(recovery.length == 0 ? "" : "%.1f".formatted(Spread.median(recovery)));
    line.add(recovery.length == 0 ? "" : "%.1f".formatted(Spread.of(recovery).max()));
    line.add(workload.isEmpty() ? "" : "%.1f".formatted(runs.getFirst().stock().seconds()));
    return line;
  }

  /**
   * Describes the levels of resources that grew over a long series on the same executors: that were
   * higher in the last quarter of the runs than in the second. The first quarter is a warm-up.
   */
  static List<String> grown(List<ChaosRun> runs) {
    return runs.stream()
        .collect(groupingBy(run -> Faults.named(run.result().run().fault()).cluster()))
        .values()
        .stream()
        .map(ChaosReport::withLevels)
        .filter(results -> results.size() >= LEVEL_RUNS)
        .flatMap(results -> grownOnOneCluster(results).stream())
        .toList();
  }

  /** Returns the results that have levels, in the order of time. */
  private static List<RunResult> withLevels(List<ChaosRun> runs) {
    return runs.stream()
        .map(ChaosRun::result)
        .filter(result -> !result.held().isEmpty())
        .sorted(Comparator.comparingLong(RunResult::endMs))
        .toList();
  }

  private static List<String> grownOnOneCluster(List<RunResult> results) {
    List<String> grown = new ArrayList<>();
    int quarter = results.size() / 4;
    LEVEL_SLACK.forEach(
        (kind, slack) -> {
          for (String key : List.of(kind, "driver " + kind)) {
            double before = median(results.subList(quarter, 2 * quarter), key);
            double after = median(results.subList(3 * quarter, results.size()), key);
            if (after > LEVEL_RATIO * before + slack) {
              grown.add("%s, from %.0f to %.0f".formatted(key, before, after));
            }
          }
        });
    return grown;
  }

  private static double median(List<RunResult> results, String key) {
    return Spread.median(
        results.stream().mapToDouble(result -> result.held().getOrDefault(key, 0L)).toArray());
  }
}
