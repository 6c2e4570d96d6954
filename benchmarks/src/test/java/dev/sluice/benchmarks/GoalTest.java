package dev.sluice.benchmarks.report;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.benchmarks.Comparison;
import dev.sluice.benchmarks.Comparison.Better;
import java.util.List;
import org.junit.jupiter.api.Test;

class GoalTest {
  private final Goal reads = new Goal("READs", "0.97 or more", "read-*");

  @Test
  void theRowThatIsFarthestFromItsGoalDecides() {
    assertThat(reads.decisive(List.of(row("read-a", 1.2), row("read-b", 0.9), row("c", 0.1))))
        .map(Comparison::name)
        .contains("read-b");
  }

  @Test
  void rowsWithoutAGoalDecideNothing() {
    Comparison row =
        new Comparison("read-a", "s", Better.LESS, new double[] {1}, "x", new double[] {1}, null);
    assertThat(reads.decisive(List.of(row))).isEmpty();
  }

  @Test
  void aGoalWithoutARowIsNotMeasured() {
    assertThat(Goal.table(List.of()).lines().skip(2))
        .hasSameSizeAs(Goal.ALL)
        .allMatch(line -> line.contains("| not measured |"));
  }

  @Test
  void aGoalWithARowSaysItsRatioAndWhetherThatIsEnough() {
    Comparison row =
        new Comparison(
            "terasort-1g", "s", Better.LESS, new double[] {11}, "stock", new double[] {10}, 1.0);
    assertThat(Goal.table(List.of(row)))
        .contains("| TeraSort of 1 GB, whole job | 1.00 or less | 1.10 | no |\n");
  }

  private static Comparison row(String name, double ratio) {
    return new Comparison(
        name, "MB/s", Better.MORE, new double[] {ratio}, "socket", new double[] {1}, 0.97);
  }
}
