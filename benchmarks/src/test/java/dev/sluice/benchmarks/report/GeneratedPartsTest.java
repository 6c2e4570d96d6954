package dev.sluice.benchmarks.report;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.benchmarks.Comparison;
import dev.sluice.benchmarks.Comparison.Better;
import java.util.List;
import org.junit.jupiter.api.Test;

class GeneratedPartsTest {
  private final GeneratedParts parts =
      new GeneratedParts(
          "figures", List.of(row("storm-16B-x1", "s"), row("storm-1KiB-x1", "s"), row("cpu", "s")));

  @Test
  void whatStandsAroundAPartStays() {
    assertThat(parts.write("# Title\n\n<!-- rows: cpu -->\nold\n<!-- end -->\nprose\n"))
        .startsWith("# Title\n\n<!-- rows: cpu -->\n\n| what |")
        .contains("| cpu | s |")
        .doesNotContain("old", "storm")
        .endsWith("\n<!-- end -->\nprose\n");
  }

  @Test
  void writingAgainChangesNothing() {
    String once = parts.write("<!-- goals -->\n<!-- end -->\n<!-- rows: storm-* -->\n<!-- end -->");
    assertThat(parts.write(once)).isEqualTo(once);
  }

  @Test
  void severalWordsChooseTheRowsOfEach() {
    assertThat(parts.write("<!-- rows: storm-16B-* cpu -->\n<!-- end -->"))
        .contains("storm-16B-x1", "cpu")
        .doesNotContain("storm-1KiB");
  }

  @Test
  void plotsBecomeFilesThatTheDocumentShows() {
    String document =
        parts.write(
            "<!-- ratios: storm-* cpu -->\n<!-- end -->\n<!-- sizes: storm-* -->\n<!-- end -->");
    assertThat(document)
        .contains("(figures/ratios-storm-cpu.svg)")
        .contains("(figures/sizes-storm.svg)");
    assertThat(parts.figures()).containsOnlyKeys("ratios-storm-cpu.svg", "sizes-storm.svg");
  }

  @Test
  void whatHasNoRowsWasNotMeasured() {
    assertThat(parts.write("<!-- ratios: tpcds-* -->\n<!-- end -->")).contains("Not measured.");
    assertThat(parts.figures()).isEmpty();
  }

  private static Comparison row(String name, String unit) {
    return new Comparison(
        name, unit, Better.LESS, new double[] {1}, "stock", new double[] {2}, null);
  }
}
