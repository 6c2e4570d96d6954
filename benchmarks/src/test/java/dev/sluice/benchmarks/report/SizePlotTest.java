package dev.sluice.benchmarks.report;

import static dev.sluice.benchmarks.report.Drawing.number;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.benchmarks.Comparison;
import dev.sluice.benchmarks.Comparison.Better;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.w3c.dom.Element;

class SizePlotTest {
  private final List<Comparison> rows =
      List.of(row("read-1MiB-x8", 900, 1_000), row("read-64KiB-x8", 500, 500));

  @Test
  void sizesGoToTheRightAndValuesUp() throws Exception {
    List<Element> dots = Drawing.of(SizePlot.of(rows)).all("circle", "sluice");
    assertThat(number(dots.get(0), "cx")).isLessThan(number(dots.get(1), "cx"));
    assertThat(number(dots.get(0), "cy")).isGreaterThan(number(dots.get(1), "cy"));
  }

  @Test
  void sluiceAndItsPartnerAreOnTheSameAxes() throws Exception {
    Drawing drawing = Drawing.of(SizePlot.of(rows));
    Element sluice = drawing.all("circle", "sluice").getFirst();
    Element partner = drawing.all("circle", "partner").getFirst();
    assertThat(number(sluice, "cx")).isEqualTo(number(partner, "cx"));
    assertThat(number(sluice, "cy")).isEqualTo(number(partner, "cy"));
  }

  @Test
  void axesAndCurvesHaveNames() throws Exception {
    Drawing drawing = Drawing.of(SizePlot.of(rows));
    assertThat(drawing.labels("")).contains("Sluice", "socket").anyMatch(l -> l.contains("MB/s"));
    assertThat(drawing.labels("small middle")).containsExactly("64KiB", "1MiB");
  }

  private static Comparison row(String name, double sluice, double socket) {
    return new Comparison(
        name, "MB/s", Better.MORE, new double[] {sluice}, "socket", new double[] {socket}, null);
  }
}
