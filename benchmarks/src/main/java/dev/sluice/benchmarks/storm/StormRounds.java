// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks.storm;

import static java.util.Objects.requireNonNull;

import dev.sluice.benchmarks.Comparison;
import dev.sluice.benchmarks.SluiceTotals;
import dev.sluice.benchmarks.storm.StormResult.Repetition;
import dev.sluice.testkit.Shuffle;
import dev.sluice.testkit.Spread;
import dev.sluice.testkit.Sums;
import java.io.IOException;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.ToDoubleFunction;

/**
 * Results of a case, with the check that they are valid. {@link StormRunner} fills it on the
 * command's thread. Values may be taken only if there are no problems, since rounds may be missing
 * otherwise.
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
    SluiceTotals totals = result.totals();
    if (shuffle == Shuffle.SLUICE && totals.readBytes() != result.remoteBytes()) {
      found.add(
          "%d bytes came by READ, but Spark counted %d remote bytes"
              .formatted(totals.readBytes(), result.remoteBytes()));
    }
    if (!totals.fallbackBlocks().isEmpty()) {
      found.add("blocks fell back to Spark's own transfer: " + totals.fallbackBlocks());
    }
    return found;
  }

  /** Returns the reasons why the results are worthless; empty if they are valid. */
  List<String> problems() {
    return List.copyOf(problems);
  }

  String name() {
    return name;
  }

  StormCase storm() {
    return storm;
  }

  /** Returns one value per round: the median of the repetitions that count. */
  double[] values(Shuffle shuffle, ToDoubleFunction<Repetition> value) {
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
}
