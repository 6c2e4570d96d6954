package dev.sluice.benchmarks.report;

import dev.sluice.benchmarks.BinarySize;
import dev.sluice.benchmarks.Comparison;
import dev.sluice.benchmarks.Spread;
import java.util.Comparator;
import java.util.List;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.DoubleStream;

/** Values of Sluice and of a partner over the size of a READ, with minimum and maximum. */
final class SizePlot {
  private static final int WIDTH = 720;
  private static final int HEIGHT = 360;
  private static final int LEFT = 70;
  private static final int RIGHT = 580;
  private static final int TOP = 40;
  private static final int BOTTOM = 320;
  private static final Pattern SIZE = Pattern.compile("-(\\d+(?:B|KiB|MiB))-");

  private final List<Comparison> rows;
  private final Svg svg = new Svg(WIDTH, HEIGHT);
  private final LogScale x;
  private final LogScale y;

  private SizePlot(List<Comparison> rows) {
    this.rows = rows;
    x = LogScale.around(rows.stream().mapToDouble(SizePlot::size), LEFT, RIGHT);
    y = LogScale.around(rows.stream().flatMapToDouble(SizePlot::values), BOTTOM, TOP);
  }

  /**
   * @param rows of one unit and one partner, with a size each
   */
  static String of(List<Comparison> rows) {
    SizePlot plot =
        new SizePlot(rows.stream().sorted(Comparator.comparing(SizePlot::size)).toList());
    plot.drawAxes();
    plot.draw("partner", rows.getFirst().partner(), Comparison::partnerValues, TOP);
    plot.draw("sluice", "Sluice", Comparison::sluice, TOP + 20);
    return plot.svg.toString();
  }

  /** In bytes, of the word of the name that is a size. */
  private static int size(Comparison row) {
    Matcher matcher = SIZE.matcher(row.name());
    if (!matcher.find()) {
      throw new IllegalArgumentException(row.name() + " does not say of which size it is");
    }
    return new BinarySize().convert(matcher.group(1));
  }

  private static DoubleStream values(Comparison row) {
    return DoubleStream.concat(DoubleStream.of(row.sluice()), DoubleStream.of(row.partnerValues()));
  }

  private void drawAxes() {
    svg.label("", 10, 14, rows.getFirst().unit() + ": minimum, median, maximum");
    for (double tick : y.ticks()) {
      svg.line("grid", LEFT, y.at(tick), RIGHT, y.at(tick));
      svg.label("small end", LEFT - 6, y.at(tick), LogScale.label(tick));
    }
    for (Comparison row : rows) {
      double at = x.at(size(row));
      svg.line("grid", at, TOP, at, BOTTOM);
      svg.label("small middle", at, BOTTOM + 14, BinarySize.format(size(row)));
    }
  }

  /** A curve, and its name to the right of the plot. */
  private void draw(
      String style, String name, Function<Comparison, double[]> values, double nameAt) {
    Comparison before = null;
    for (Comparison row : rows) {
      Spread spread = Spread.of(values.apply(row));
      double at = x.at(size(row));
      svg.line(style, at, y.at(spread.min()), at, y.at(spread.max()));
      svg.dot(style, at, y.at(spread.median()));
      if (before != null) {
        double from = Spread.of(values.apply(before)).median();
        svg.line(style, x.at(size(before)), y.at(from), at, y.at(spread.median()));
      }
      before = row;
    }
    svg.dot(style, RIGHT + 20, nameAt).label("", RIGHT + 30, nameAt, name);
  }
}
