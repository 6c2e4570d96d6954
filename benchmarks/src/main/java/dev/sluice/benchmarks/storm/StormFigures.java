package dev.sluice.benchmarks.storm;

import dev.sluice.benchmarks.Comparison;
import dev.sluice.benchmarks.Comparison.Better;
import dev.sluice.benchmarks.Shuffle;
import dev.sluice.benchmarks.Statistics;
import dev.sluice.benchmarks.storm.StormResult.Repetition;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.function.ToDoubleFunction;

/** What the results of storms say, as comparisons and as a table. */
final class StormFigures {
  private static final ToDoubleFunction<Repetition> TASK =
      repetition -> repetition.stage().taskSeconds();
  private static final ToDoubleFunction<Repetition> WALL =
      repetition -> repetition.stage().wallSeconds();

  private StormFigures() {}

  /** Times of the reduce stage, beside the stock shuffle and beside the oracle. */
  static List<Comparison> comparisons(StormRounds rounds) {
    return List.of(
        compare(rounds, "task", TASK, Shuffle.STOCK),
        compare(rounds, "task-oracle", TASK, Shuffle.ORACLE),
        compare(rounds, "wall", WALL, Shuffle.STOCK),
        compare(rounds, "wall-oracle", WALL, Shuffle.ORACLE));
  }

  private static Comparison compare(
      StormRounds rounds, String figure, ToDoubleFunction<Repetition> value, Shuffle partner) {
    StormCase storm = rounds.storm();
    return rounds.compare(
        "storm-" + storm.name() + "-" + figure,
        "s",
        value,
        partner,
        StormGoals.goal(storm, figure));
  }

  /** Sluice's time per block in a large shuffle beside that in a small one. */
  static Comparison growth(StormRounds small, StormRounds large) {
    return new Comparison(
        "storm-growth-" + small.storm().name() + "-to-" + large.storm().name() + "-task",
        "us/block",
        Better.LESS,
        perBlock(large, Shuffle.SLUICE),
        "sluice-" + small.storm().maps() + "x" + small.storm().partitions(),
        perBlock(small, Shuffle.SLUICE),
        StormGoals.GROWTH);
  }

  /** Microseconds of task time. */
  private static double[] perBlock(StormRounds rounds, Shuffle shuffle) {
    return Arrays.stream(rounds.values(shuffle, TASK))
        .map(seconds -> seconds * 1e6 / rounds.storm().blocks())
        .toArray();
  }

  /** Where the reduce stage's time went with each shuffle: medians of the rounds. */
  static String table(StormRounds rounds) {
    StringBuilder table = new StringBuilder();
    table.append(
        String.format(
            "%-40s %8s %8s %8s %8s %8s %9s%n",
            rounds.storm().name(), "wall", "task", "CPU", "deserial", "wait", "us/block"));
    for (Shuffle shuffle : rounds.shuffles()) {
      table.append(String.format("  %-38s", shuffle.label()));
      for (ToDoubleFunction<Repetition> value : columns()) {
        double seconds = Statistics.median(rounds.values(shuffle, value));
        table.append(String.format(Locale.ROOT, " %6.2f s", seconds));
      }
      double us = Statistics.median(perBlock(rounds, shuffle));
      table.append(String.format(Locale.ROOT, " %9.2f%n", us));
    }
    return table.toString();
  }

  private static List<ToDoubleFunction<Repetition>> columns() {
    List<ToDoubleFunction<Repetition>> columns = new ArrayList<>(List.of(WALL, TASK));
    columns.add(repetition -> repetition.stage().taskCpuSeconds());
    columns.add(repetition -> repetition.stage().deserializeSeconds());
    columns.add(repetition -> repetition.stage().fetchWaitSeconds());
    return columns;
  }
}
