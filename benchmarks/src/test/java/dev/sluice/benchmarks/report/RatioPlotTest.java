package dev.sluice.benchmarks.report;

import static dev.sluice.benchmarks.report.Drawing.number;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.benchmarks.Comparison;
import dev.sluice.benchmarks.Comparison.Better;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.w3c.dom.Element;

class RatioPlotTest {
  @Test
  void aDotLiesBetweenTheEndsOfItsLineAndBeforeAGoalThatIsMissed() throws Exception {
    Drawing drawing = Drawing.of(RatioPlot.of(List.of(row("a<b", 1.0, 0.8, 0.9, 0.7))));
    Element dot = drawing.all("circle", "sluice").getFirst();
    Element line = drawing.all("line", "sluice").getFirst();
    Element goal = drawing.all("line", "goal").getFirst();
    assertThat(number(dot, "cx")).isBetween(number(line, "x1"), number(line, "x2"));
    assertThat(number(line, "x2")).isLessThan(number(goal, "x1"));
    assertThat(drawing.labels("end")).containsExactly("a<b");
  }

  @Test
  void aGoalOfOneIsDrawnWhereTheAxisSaysOne() throws Exception {
    Drawing drawing = Drawing.of(RatioPlot.of(List.of(row("a", 1.0, 0.8))));
    assertThat(number(drawing.all("line", "goal").getFirst(), "x1"))
        .isEqualTo(number(drawing.all("line", "even").getFirst(), "x1"));
  }

  @Test
  void rowsStandOneUnderTheOther() throws Exception {
    Drawing drawing = Drawing.of(RatioPlot.of(List.of(row("a", null, 0.5), row("b", null, 2))));
    List<Element> dots = drawing.all("circle", "sluice");
    assertThat(number(dots.get(0), "cy")).isLessThan(number(dots.get(1), "cy"));
    assertThat(number(dots.get(0), "cx")).isLessThan(number(dots.get(1), "cx"));
    assertThat(drawing.all("line", "goal")).isEmpty();
  }

  private static Comparison row(String name, Double goal, double... sluice) {
    double[] partner = new double[sluice.length];
    Arrays.fill(partner, 1);
    return new Comparison(name, "s", Better.MORE, sluice, "stock", partner, goal);
  }
}
