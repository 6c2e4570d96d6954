// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks.storm;

import static java.util.Objects.requireNonNull;

import dev.sluice.benchmarks.Comparison;
import dev.sluice.benchmarks.storm.StormCase.Workload;
import dev.sluice.benchmarks.storm.StormJob.Repetition;
import dev.sluice.benchmarks.storm.StormJob.StormResult;
import dev.sluice.testkit.Shuffle;
import dev.sluice.testkit.Spread;
import dev.sluice.testkit.Sums;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.ToDoubleFunction;
import java.util.stream.Collectors;

/**
 * Results of a case, with the check that they are valid, and their rows. {@link StormRunner} fills
 * it on the command's thread. Values may be taken only if there are no problems, since rounds may
 * be missing otherwise.
 */
final class StormRounds {
  private final StormCase storm;
  private final String name;
  private final int warmUp;
  private final Map<Shuffle, List<StormResult>> results = new EnumMap<>(Shuffle.class);
  private final Set<Sums> sums = new LinkedHashSet<>();
  private final List<String> problems = new ArrayList<>();

  /**
   * @param name name of the case in rows
   * @param warmUp number of repetitions of a process that do not count
   */
  StormRounds(StormCase storm, String name, int warmUp) {
    this.storm = storm;
    this.name = name;
    this.warmUp = warmUp;
  }

  /** Adds a result; results arrive round by round. */
  void add(Shuffle shuffle, StormResult result) {
    List<StormResult> rounds = results.computeIfAbsent(shuffle, _ -> new ArrayList<>());
    rounds.add(result);
    String where = "%s, %s %d: ".formatted(name, shuffle.label(), rounds.size());
    findProblems(shuffle, result).forEach(problem -> problems.add(where + problem));
  }

  /** Records that a driver failed. */
  void failed(IOException failure) {
    problems.add(name + ", " + failure.getMessage());
  }

  private List<String> findProblems(Shuffle shuffle, StormResult result) {
    List<String> found = new ArrayList<>();
    result.repetitions().forEach(repetition -> sums.add(repetition.sums()));
    if (sums.size() > 1) {
      found.add("sums of the shuffled records differ between runs: " + sums);
    }
    if (shuffle == Shuffle.SLUICE) {
      found.addAll(result.totals().problems());
    }
    return found;
  }

  /** Returns the reasons why the results are worthless; empty if they are valid. */
  List<String> problems() {
    return List.copyOf(problems);
  }

  /** Returns the different devices of Sluice's executors, each with its provider. */
  String devices() {
    return requireNonNull(results.get(Shuffle.SLUICE)).stream()
        .map(result -> result.totals().devices())
        .distinct()
        .collect(Collectors.joining("; "));
  }

  String name() {
    return name;
  }

  StormCase storm() {
    return storm;
  }

  /** Returns one value per round: the median of the repetitions that count. */
  private double[] values(Shuffle shuffle, ToDoubleFunction<Repetition> value) {
    return requireNonNull(results.get(shuffle)).stream()
        .mapToDouble(
            result ->
                Spread.median(
                    result.repetitions().stream().skip(warmUp).mapToDouble(value).toArray()))
        .toArray();
  }

  /** Returns Sluice's seconds against the stock shuffle's. */
  Comparison compare(String row, ToDoubleFunction<Repetition> seconds) {
    return Comparison.ofSeconds(row, shuffle -> values(shuffle, seconds));
  }

  /**
   * Returns rows of the time of the reduce stage (of all jobs if there are several) and of the CPU
   * time of all executors, against the stock shuffle. With new shuffles also rows of the map stage
   * and of the whole job.
   */
  List<Comparison> comparisons() {
    String row = "storm-" + name;
    List<Comparison> rows = new ArrayList<>();
    if (storm.workload() == Workload.RDD_ITERATIVE) {
      rows.add(compare(row + "-jobs", each -> each.reduce().seconds()));
    } else {
      rows.add(compare(row + "-task", each -> each.stage().taskSeconds()));
      rows.add(compare(row + "-wall", each -> each.stage().wallSeconds()));
    }
    rows.add(compare(row + "-cpu", each -> each.reduce().allCpuSeconds()));
    if (storm.newShuffles()) {
      rows.addAll(mapAndWhole(row));
    }
    return rows;
  }

  /** Returns rows of the wall time and the CPU time of the map stage, and of the whole job. */
  List<Comparison> mapAndWhole(String row) {
    return List.of(
        compare(row + "-map-wall", each -> each.map().seconds()),
        compare(row + "-map-cpu", each -> each.map().allCpuSeconds()),
        compare(row + "-whole-wall", each -> each.map().seconds() + each.reduce().seconds()),
        compare(
            row + "-whole-cpu",
            each -> each.map().allCpuSeconds() + each.reduce().allCpuSeconds()));
  }

  /**
   * Returns Sluice's time per block in a large shuffle against that in a small one; empty if rows
   * of either are missing.
   */
  static Optional<Comparison> growth(List<Comparison> rows) {
    StormCase small = StormCase.SMALLEST;
    StormCase large = StormCase.LARGEST;
    return find(rows, small)
        .flatMap(
            ofSmall ->
                find(rows, large)
                    .map(
                        ofLarge ->
                            Comparison.less(
                                "storm-growth-%s-to-%s-task".formatted(small.name(), large.name()),
                                "us/block",
                                perBlock(ofLarge.sluice(), large),
                                "sluice-" + small.maps() + "x" + small.partitions(),
                                perBlock(ofSmall.sluice(), small))));
  }

  private static Optional<Comparison> find(List<Comparison> rows, StormCase storm) {
    String name = "storm-" + storm.name() + "-task";
    return rows.stream().filter(row -> row.name().equals(name)).findAny();
  }

  /** Returns microseconds of task time per block. */
  private static double[] perBlock(double[] taskSeconds, StormCase storm) {
    return Arrays.stream(taskSeconds).map(seconds -> seconds * 1e6 / storm.blocks()).toArray();
  }
}
