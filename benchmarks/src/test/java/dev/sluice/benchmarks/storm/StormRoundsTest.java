// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks.storm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import dev.sluice.benchmarks.Comparison;
import dev.sluice.benchmarks.SluiceTotals;
import dev.sluice.benchmarks.storm.StormCase.Workload;
import dev.sluice.benchmarks.storm.StormJob.ReduceStage;
import dev.sluice.benchmarks.storm.StormJob.Repetition;
import dev.sluice.benchmarks.storm.StormJob.StormResult;
import dev.sluice.testkit.Executors.Effort;
import dev.sluice.testkit.Shuffle;
import dev.sluice.testkit.Sums;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class StormRoundsTest {
  private static final StormCase STORM = StormCase.of(Workload.RDD_KRYO, 400, 400, 1000);
  private static final Sums SUMS = new Sums(10, 123);
  private static final SluiceTotals READ = totals(Map.of("read.bytes", 700L));

  private final StormRounds rounds = new StormRounds(STORM, STORM.name(), 1);

  @Test
  void aRoundIsTheMedianOfTheRepetitionsAfterTheWarmUp() {
    rounds.add(Shuffle.SLUICE, result(READ, 99, 1, 3, 2));
    rounds.add(Shuffle.STOCK, result(SluiceTotals.NONE, 99, 8, 8, 9));

    assertThat(rounds.problems()).isEmpty();
    List<Comparison> comparisons = rounds.comparisons();
    assertThat(comparisons)
        .extracting(Comparison::name)
        .containsExactly(
            "storm-rdd-kryo-400x400-1KB-task",
            "storm-rdd-kryo-400x400-1KB-wall",
            "storm-rdd-kryo-400x400-1KB-cpu");
    assertThat(comparisons).extracting(Comparison::ratio).containsExactly(0.25, 0.25, 0.25);
    assertThat(comparisons).extracting(Comparison::goal).containsExactly(0.15, 0.32, 1 / 3.0);
  }

  @Test
  void newShufflesAddRowsOfTheMapStageAndOfTheWholeJob() {
    StormCase storm = new StormCase(Workload.RDD_KRYO, 400, 400, 1000, false, true);
    StormRounds written = new StormRounds(storm, storm.name(), 0);
    written.add(Shuffle.SLUICE, result(READ, new Effort(3, Map.of("0", 6.0)), 1));
    written.add(Shuffle.STOCK, result(SluiceTotals.NONE, new Effort(2, Map.of("0", 5.0)), 3));

    assertThat(written.comparisons().subList(3, 7))
        .extracting(Comparison::name, row -> row.sluice()[0], row -> row.partnerValues()[0])
        .containsExactly(
            tuple("storm-rdd-kryo-400x400-1KB-new-map-wall", 3.0, 2.0),
            tuple("storm-rdd-kryo-400x400-1KB-new-map-cpu", 6.0, 5.0),
            tuple("storm-rdd-kryo-400x400-1KB-new-whole-wall", 4.0, 5.0),
            tuple("storm-rdd-kryo-400x400-1KB-new-whole-cpu", 10.0, 17.0));
  }

  @Test
  void growthIsTimePerBlockOfTheLargeShuffleOverTheSmall() {
    List<Comparison> rows = new ArrayList<>();
    rows.add(taskSeconds(StormCase.SMALLEST, 1));
    assertThat(StormRounds.growth(rows)).isEmpty();
    rows.add(taskSeconds(StormCase.LARGEST, 150));

    Comparison growth = StormRounds.growth(rows).orElseThrow();
    assertThat(growth.sluice()).containsExactly(150);
    assertThat(growth.partner()).isEqualTo("sluice-100x100");
    assertThat(growth.partnerValues()).containsExactly(100);
    assertThat(growth.reached()).isEqualTo("undecided");
  }

  private static Comparison taskSeconds(StormCase storm, double seconds) {
    StormRounds rounds = new StormRounds(storm, storm.name(), 0);
    for (Shuffle shuffle : Shuffle.values()) {
      rounds.add(shuffle, result(shuffle == Shuffle.SLUICE ? READ : SluiceTotals.NONE, seconds));
    }
    return rounds.comparisons().getFirst();
  }

  @Test
  void differentSumsAreAProblemWithAnyShuffle() {
    rounds.add(Shuffle.STOCK, result(SluiceTotals.NONE, 1, 1));
    Repetition other =
        new Repetition(new Sums(10, 124), Effort.NONE, Effort.NONE, new ReduceStage(1, 1));
    rounds.add(Shuffle.SLUICE, new StormResult(List.of(other), READ));
    assertThat(rounds.problems())
        .singleElement()
        .asString()
        .contains("rdd-kryo-400x400-1KB, sluice 1: ", "123", "124");
  }

  @Test
  void allRemoteBytesMustHaveBeenRead() {
    SluiceTotals less = totals(Map.of("read.bytes", 699L));
    rounds.add(Shuffle.SLUICE, result(less, 1, 1));
    assertThat(rounds.problems())
        .singleElement()
        .asString()
        .contains("699 bytes came by READ", "700");
  }

  @Test
  void aFallbackIsAProblem() {
    Map<String, Long> counters = Map.of("read.bytes", 700L, "fallback.blocks.CHECKSUM", 1L);
    rounds.add(Shuffle.SLUICE, result(totals(counters), 1, 1));
    assertThat(rounds.problems()).singleElement().asString().contains("CHECKSUM=1");
  }

  @Test
  void aDriverThatFailedIsAProblem() {
    rounds.failed(new IOException("stock: driver ended with status 1"));
    assertThat(rounds.problems()).singleElement().asString().contains("ended with status 1");
  }

  private static SluiceTotals totals(Map<String, Long> counters) {
    return new SluiceTotals("soft", 700, counters);
  }

  private static StormResult result(SluiceTotals totals, double... seconds) {
    return result(totals, Effort.NONE, seconds);
  }

  private static StormResult result(SluiceTotals totals, Effort map, double... seconds) {
    List<Repetition> repetitions =
        Arrays.stream(seconds)
            .mapToObj(
                s ->
                    new Repetition(
                        SUMS,
                        map,
                        new Effort(s, Map.of("0", s, "1", 3 * s)),
                        new ReduceStage(s, s)))
            .toList();
    return new StormResult(repetitions, totals);
  }
}
