// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks.bench;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.benchmarks.Comparison;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

class GeneratedPartsTest {
  private static final List<Comparison> ROWS =
      List.of(row("storm-16B-x1", "s"), row("storm-1KiB-x1", "s"), row("cpu", "s"));

  @Test
  void textAroundAPartStays() {
    assertThat(write("# Title\n\n<!-- rows: cpu -->\nold\n<!-- end -->\nprose\n"))
        .startsWith("# Title\n\n<!-- rows: cpu -->\n\n| row |")
        .contains("| cpu | s |")
        .doesNotContain("old", "storm")
        .endsWith("\n<!-- end -->\nprose\n");
  }

  @Test
  void writingAgainChangesNothing() {
    String once = write("<!-- goals -->\n<!-- end -->\n<!-- rows: storm-* -->\n<!-- end -->");
    assertThat(write(once)).isEqualTo(once);
  }

  @Test
  void severalWordsChooseTheRowsOfEach() {
    assertThat(write("<!-- rows: storm-16B-* cpu -->\n<!-- end -->"))
        .contains("storm-16B-x1", "cpu")
        .doesNotContain("storm-1KiB");
  }

  @Test
  void aPartWithoutRowsWasNotMeasured() {
    assertThat(write("<!-- rows: tpcds-* -->\n<!-- end -->")).contains("Not measured.");
  }

  @Test
  void aPlotHasTheRowsThatTheDocumentNames() {
    assertThat(ReportCommand.plot("<!-- plot: storm-16B-* cpu -->", ROWS))
        .get()
        .asString()
        .contains(">storm-16B-x1<", ">cpu<")
        .doesNotContain("storm-1KiB");
    assertThat(ReportCommand.plot("<!-- rows: cpu -->", ROWS)).isEmpty();
    assertThat(ReportCommand.plotOf(Path.of("figures", "own.md")))
        .isEqualTo(Path.of("figures", "own.svg"));
  }

  private static String write(String document) {
    return ReportCommand.withTables(document, ROWS);
  }

  private static Comparison row(String name, String unit) {
    return Comparison.less(name, unit, new double[] {1}, "stock", new double[] {2});
  }
}
