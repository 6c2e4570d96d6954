// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class GoalTest {
  @Test
  void theRowThatIsFarthestFromItsGoalDecides() {
    assertThat(Goal.table(List.of(row("tpcds-sf1-q1", 1.2), row("tpcds-sf1-q2", 0.9))))
        .contains(
            "| TPC-DS SF1: time of each query | 1.05 or less | 1.20 | undecided: 3 rounds may"
                + " decide |\n");
    assertThat(
            Goal.table(List.of(row("read-verbs-64KiB-x8", 0.99), row("read-verbs-1MiB-x8", 0.9))))
        .contains(
            "| READs of 64 KiB and more on verbs, compared with ib_read_bw"
                + " | 0.97 or more | 0.900 | undecided: 3 rounds may decide |\n");
  }

  @Test
  void aGoalWithoutARowIsNotMeasured() {
    assertThat(Goal.table(List.of(row("anything", 1))).lines().skip(2))
        .isNotEmpty()
        .allMatch(line -> line.contains("| not measured |"));
  }

  @Test
  void aGoalIsReachedFromTheSideThatIsBetter() {
    Goal less = Goal.of("terasort-1g").orElseThrow();
    assertThat(less.isReached(1)).isTrue();
    assertThat(less.isReached(1.01)).isFalse();
    Goal more = Goal.of("read-verbs-1MiB-x64").orElseThrow();
    assertThat(more.isReached(0.97)).isTrue();
    assertThat(more.isReached(0.96)).isFalse();
  }

  /** A goal of a version has the version in its pattern. */
  @Test
  void rowsOfOtherVersionsHaveNoGoal() {
    assertThat(Goal.of("tpcds-sf1-q1")).isPresent();
    assertThat(Goal.of("tpcds-sf1-q1@spark-4.1")).isEmpty();
    assertThat(Goal.of("terasort-1g@java-21")).isEmpty();
    assertThat(Goal.of("start-jdk-first-block@java-21")).isPresent();
  }

  /** Rows with another depth, with a secondary figure, and with a label. */
  @Test
  void rowsWithSimilarNamesHaveNoGoal() {
    assertThat(Goal.of("read-verbs-1MiB-x1")).isEmpty();
    assertThat(Goal.of("storm-rdd-kryo-400x400-1KB-staged-task")).isPresent();
    assertThat(Goal.of("storm-rdd-kryo-400x400-1KB-staged-wall")).isEmpty();
    assertThat(Goal.of("terasort-1g-verbs")).isEmpty();
  }

  private static Comparison row(String name, double ratio) {
    return Comparison.less(name, "s", new double[] {ratio}, "stock", new double[] {1});
  }
}
