package dev.sluice.benchmarks.report;

import dev.sluice.benchmarks.Comparison;
import dev.sluice.benchmarks.ComparisonTable;
import dev.sluice.benchmarks.Spread;
import java.util.List;
import java.util.stream.DoubleStream;

/**
 * Ratios of rows, one under the other: a dot for the median, a line from minimum to maximum, a bar
 * where the goal is.
 */
final class RatioPlot {
  private static final int WIDTH = 1010;
  private static final int LEFT = 470;
  private static final int RIGHT = 830;
  private static final int TOP = 34;
  private static final int LINE = 22;

  private RatioPlot() {}

  static String of(List<Comparison> rows) {
    int bottom = TOP + LINE * rows.size();
    Svg svg = new Svg(WIDTH, bottom + 10);
    LogScale scale = LogScale.around(rows.stream().flatMapToDouble(RatioPlot::shown), LEFT, RIGHT);
    svg.label("", 10, 14, "Sluice / partner: minimum, median, maximum");
    for (double tick : scale.ticks()) {
      svg.line(tick == 1 ? "even" : "grid", scale.at(tick), TOP - 4, scale.at(tick), bottom);
      svg.label("small middle", scale.at(tick), TOP - 12, LogScale.label(tick));
    }
    for (int i = 0; i < rows.size(); i++) {
      draw(svg, rows.get(i), scale, TOP + LINE * i + LINE / 2.0);
    }
    return svg.toString();
  }

  /** What must be on the axis. */
  private static DoubleStream shown(Comparison row) {
    DoubleStream ratios = DoubleStream.concat(DoubleStream.of(1), DoubleStream.of(row.ratios()));
    return row.goal() == null ? ratios : DoubleStream.concat(ratios, DoubleStream.of(row.goal()));
  }

  private static void draw(Svg svg, Comparison row, LogScale scale, double y) {
    Spread ratios = Spread.of(row.ratios());
    svg.label("end", LEFT - 10, y, row.name());
    if (row.goal() != null) {
      svg.line("goal", scale.at(row.goal()), y - 8, scale.at(row.goal()), y + 8);
    }
    svg.line("sluice", scale.at(ratios.min()), y, scale.at(ratios.max()), y);
    svg.dot("sluice", scale.at(ratios.median()), y);
    String ratio = Spread.format(ratios.median());
    String goal = row.goal() == null ? "" : ", goal " + ComparisonTable.goal(row);
    svg.label("", RIGHT + 10, y, ratio + goal);
  }
}
