// SPDX-License-Identifier: Apache-2.0
package dev.sluice.chaos;

import dev.sluice.chaos.ChaosCommand.ChaosReport;
import dev.sluice.chaos.RunResult.Outcome;
import dev.sluice.testkit.Columns;
import dev.sluice.testkit.Spread;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/**
 * Table of fault by workload: number of runs and their results. It is Markdown that also reads as
 * plain text. {@link ChaosReport} prints it.
 */
final class ChaosTable {
  private static final List<String> HEADER =
      List.of(
          "fault",
          "workload",
          "runs",
          "struck",
          "wrong",
          "hangs",
          "failed",
          "unexpected losses",
          "leaks",
          "late",
          "recovery s, median",
          "max",
          "stock s");

  private ChaosTable() {}

  static String of(List<ChaosRun> runs) {
    Map<List<String>, List<ChaosRun>> groups =
        runs.stream()
            .collect(
                Collectors.groupingBy(ChaosTable::group, LinkedHashMap::new, Collectors.toList()));
    List<List<String>> lines = new ArrayList<>();
    lines.add(HEADER);
    lines.add(HEADER.stream().map(column -> "-".repeat(column.length())).toList());
    groups.forEach((group, members) -> lines.add(line(group.get(0), group.get(1), members)));
    lines.add(line("all", "", runs));
    return Columns.align(lines, "| ", " | ", " |");
  }

  /** Returns faults with workloads in none of whose runs the fault struck: they show nothing. */
  static List<String> neverStruck(List<ChaosRun> runs) {
    return runs.stream().collect(Collectors.groupingBy(ChaosTable::group)).entrySet().stream()
        .filter(group -> group.getValue().stream().noneMatch(ChaosRun::isTelling))
        .map(group -> String.join(" ", group.getKey()))
        .sorted()
        .toList();
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
    return List.of(
        fault,
        workload,
        Integer.toString(runs.size()),
        count(runs, ChaosRun::isTelling),
        count(runs, ChaosRun::isWrong),
        count(runs, run -> run.ended(Outcome.HANG)),
        count(runs, run -> run.ended(Outcome.FAILED) || run.ended(Outcome.HARNESS)),
        count(runs, ChaosRun::hasUnexpectedLosses),
        count(runs, ChaosRun::isLeak),
        count(runs, ChaosRun::isLate),
        recovery.length == 0 ? "" : "%.1f".formatted(Spread.median(recovery)),
        recovery.length == 0 ? "" : "%.1f".formatted(Arrays.stream(recovery).max().orElseThrow()),
        workload.isEmpty() ? "" : "%.1f".formatted(runs.getFirst().stock().seconds()));
  }

  private static String count(List<ChaosRun> runs, Predicate<ChaosRun> which) {
    return Long.toString(runs.stream().filter(which).count());
  }
}
