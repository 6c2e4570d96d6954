// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.benchmarks.Benchmark.ComparisonTable;
import dev.sluice.benchmarks.Comparison.Better;
import java.util.List;
import org.junit.jupiter.api.Test;

class ComparisonTableTest {
  private final List<Comparison> rows =
      List.of(
          new Comparison(
              "terasort-1g",
              "s",
              Better.LESS,
              new double[] {20, 22, 24},
              "stock",
              new double[] {22, 22, 22},
              null),
          new Comparison(
              "read", "MB/s", Better.MORE, new double[] {90}, "socket", new double[] {100}, null));

  @Test
  void aTerminalSeesColumnsWithPartnerRatioAndGoal() {
    assertThat(ComparisonTable.plain(rows))
        .isEqualTo(
            """
            row          unit  Sluice               partner     ratio                 goal          reached
            terasort-1g  s     22.0 (20.0 to 24.0)  stock 22.0  1.00 (0.909 to 1.09)  1.00 or less  undecided: too close to the goal
            read         MB/s  90.0                 socket 100  0.900
            """);
  }

  @Test
  void aDocumentGetsTheSameCells() {
    assertThat(ComparisonTable.markdown(rows))
        .isEqualTo(
            """
            | row | unit | Sluice | partner | ratio | goal | reached |
            | --- | --- | --- | --- | --- | --- | --- |
            | terasort-1g | s | 22.0 (20.0 to 24.0) | stock 22.0 | 1.00 (0.909 to 1.09) | 1.00 or less | undecided: too close to the goal |
            | read | MB/s | 90.0 | socket 100 | 0.900 |  |  |
            """);
  }
}
