// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks.storm;

import dev.sluice.benchmarks.Comparison;
import dev.sluice.benchmarks.storm.StormResult.Repetition;
import dev.sluice.testkit.Columns;
import dev.sluice.testkit.Shuffle;
import dev.sluice.testkit.Spread;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.function.ToDoubleFunction;

/**
 * Turns the results of storms without problems into rows and a table, for {@link StormCommand} on
 * its thread. No state.
 */
final class StormFigures {
  private static final ToDoubleFunction<Repetition> TASK =
      repetition -> repetition.stage().taskSeconds();
  private static final ToDoubleFunction<Repetition> WALL =
      repetition -> repetition.stage().wallSeconds();
  private static final ToDoubleFunction<Repetition> CPU =
      repetition ->
          repetition.executorCpuSeconds().values().stream().mapToDouble(Double::doubleValue).sum();

  private static final List<ToDoubleFunction<Repetition>> COLUMNS =
      List.of(
          WALL,
          TASK,
          repetition -> repetition.stage().taskCpuSeconds(),
          repetition -> repetition.stage().deserializeSeconds(),
          repetition -> repetition.stage().fetchWaitSeconds());

  private StormFigures() {}

  /**
   * Returns rows of the time of the reduce stage (of all jobs if there are several) and of the CPU
   * time of all executors, against the stock shuffle.
   */
  static List<Comparison> comparisons(StormRounds rounds) {
    return rounds.storm().workload() == Workload.RDD_ITERATIVE
        ? List.of(compare(rounds, "jobs", Repetition::seconds), compare(rounds, "cpu", CPU))
        : List.of(
            compare(rounds, "task", TASK),
            compare(rounds, "wall", WALL),
            compare(rounds, "cpu", CPU));
  }

  private static Comparison compare(
      StormRounds rounds, String figure, ToDoubleFunction<Repetition> value) {
    return rounds.compare("storm-" + rounds.name() + "-" + figure, value);
  }

  private static Optional<Comparison> find(List<Comparison> rows, StormCase storm) {
    String name = "storm-" + storm.name() + "-task";
    return rows.stream().filter(row -> row.name().equals(name)).findAny();
  }

  /**
   * Returns Sluice's time per block in a large shuffle against that in a small one; empty if rows
   * of either are missing.
   */
  static Optional<Comparison> growth(List<Comparison> rows) {
    StormCase small = StormCase.SMALLEST;
    StormCase large = StormCase.LARGEST;
    String name = "storm-growth-" + small.name() + "-to-" + large.name() + "-task";
    Optional<Comparison> ofSmall = find(rows, small);
    Optional<Comparison> ofLarge = find(rows, large);
    if (ofSmall.isEmpty() || ofLarge.isEmpty()) {
      return Optional.empty();
    }
    return Optional.of(
        Comparison.less(
            name,
            "us/block",
            perBlock(ofLarge.get().sluice(), large),
            "sluice-" + small.maps() + "x" + small.partitions(),
            perBlock(ofSmall.get().sluice(), small)));
  }

  /** Returns microseconds of task time per block. */
  private static double[] perBlock(double[] taskSeconds, StormCase storm) {
    return Arrays.stream(taskSeconds).map(seconds -> seconds * 1e6 / storm.blocks()).toArray();
  }

  /** Returns a table of the parts of the reduce stage's time by shuffle: medians of the rounds. */
  static String table(StormRounds rounds) {
    List<List<String>> lines = new ArrayList<>();
    lines.add(
        List.of(
            rounds.name(), "wall", "task", "CPU", "deserialize", "fetch wait", "task us/block"));
    for (Shuffle shuffle : Shuffle.PAIR) {
      List<String> line = new ArrayList<>(List.of("  " + shuffle.label()));
      for (ToDoubleFunction<Repetition> value : COLUMNS) {
        line.add(Spread.format(Spread.median(rounds.values(shuffle, value))) + " s");
      }
      double[] us = perBlock(rounds.values(shuffle, TASK), rounds.storm());
      line.add(Spread.format(Spread.median(us)));
      lines.add(line);
    }
    return Columns.align(lines, "", "  ", "");
  }
}
