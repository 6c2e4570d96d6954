// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.benchmarks.Benchmark.ComparisonTable;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;
import picocli.CommandLine.Command;

class BenchmarkTest {
  private static final Comparison ROW =
      Comparison.less("storm", "s", new double[] {1, 2}, "stock", new double[] {10, 10});

  private final StringWriter printed = new StringWriter();

  @TempDir Path directory;

  @Test
  void theFileHoldsTheRowsThatAreShown() throws Exception {
    Path json = directory.resolve("out.json");
    assertThat(report(List.of(), "--json", json.toString())).isZero();
    List<Comparison> rows = new ResultFile(json).read();
    assertThat(rows)
        .singleElement()
        .satisfies(
            row -> assertThat(row.run().options()).containsExactly("--json", json.toString()))
        .satisfies(row -> assertThat(row.name()).isEqualTo("storm" + BenchmarkRun.variant()))
        .usingRecursiveComparison()
        .ignoringFields("name", "run")
        .isEqualTo(ROW);
    assertThat(printed.toString()).startsWith(ComparisonTable.plain(rows));
  }

  @Test
  void aProblemIsPrintedAndFailsTheCommand() throws Exception {
    assertThat(report(List.of("sums differ"))).isEqualTo(1);
    assertThat(printed.toString()).contains("INVALID sums differ");
  }

  private int report(List<String> problems, String... arguments) throws Exception {
    Measured benchmark = new Measured();
    new CommandLine(benchmark).setOut(new PrintWriter(printed)).parseArgs(arguments);
    benchmark.measure(directory);
    benchmark.problems.addAll(problems);
    return benchmark.report();
  }

  @Command
  private static final class Measured extends Benchmark {
    @Override
    protected void measure(Path directory) {
      rows.add(ROW);
    }
  }
}
