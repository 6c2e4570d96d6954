// SPDX-License-Identifier: Apache-2.0
package dev.sluice.chaos;

import dev.sluice.chaos.ChaosCommand.ChaosReport;
import dev.sluice.chaos.fault.Faults;
import dev.sluice.testkit.Spread;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * Checks that resources of processes do not grow over a long series on the same executors. {@link
 * ChaosReport} calls it. The first quarter of the runs is a warm-up and is not compared.
 */
final class ResourceLevels {
  /** Minimum number of runs; fewer do not show a level. */
  private static final int RUNS = 40;

  /** Factor by which a level may grow, in addition to its slack. */
  private static final double RATIO = 1.25;

  /** Amount by which a level may vary by chance, in its own unit. */
  private static final Map<String, Double> SLACK =
      Map.of(
          "descriptors", 32.0,
          "threads", 32.0,
          "mapped files", 64.0,
          "resident", (double) (64 << 20),
          "heap", (double) (32 << 20));

  private ResourceLevels() {}

  /** Returns the results that have levels, in the order of time. */
  private static List<RunResult> inOrder(List<ChaosRun> runs) {
    return runs.stream()
        .map(ChaosRun::result)
        .filter(result -> !result.held().isEmpty())
        .sorted(Comparator.comparingLong(RunResult::endMs))
        .toList();
  }

  /** Describes the levels that were higher in the last quarter of the runs than in the second. */
  static List<String> grown(List<ChaosRun> runs) {
    return runs.stream()
        .collect(Collectors.groupingBy(run -> Faults.named(run.result().run().fault()).cluster()))
        .values()
        .stream()
        .map(ResourceLevels::inOrder)
        .filter(results -> results.size() >= RUNS)
        .flatMap(results -> grownOnOneCluster(results).stream())
        .toList();
  }

  private static List<String> grownOnOneCluster(List<RunResult> results) {
    List<String> grown = new ArrayList<>();
    int quarter = results.size() / 4;
    SLACK.forEach(
        (kind, slack) -> {
          for (String key : List.of(kind, "driver " + kind)) {
            double before = median(results.subList(quarter, 2 * quarter), key);
            double after = median(results.subList(3 * quarter, results.size()), key);
            if (after > RATIO * before + slack) {
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
