package dev.sluice.benchmarks.chaos;

import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * A drawing in SVG, built up shape by shape. What shapes look like is said by classes of one style
 * sheet, which knows light and dark pages. Coordinates are pixels from the upper left corner.
 */
final class Svg {
  private static final String STYLE =
      """
      <style>
        text { font: 12px sans-serif; fill: #1f2328 }
        .end { text-anchor: end }
        .middle { text-anchor: middle }
        .small { font-size: 10px }
        .page { fill: #ffffff }
        .grid { stroke: #d1d9e0 }
        .even { stroke: #818b98 }
        .sluice { stroke: #0969da; stroke-width: 2; fill: none }
        .partner { stroke: #bc4c00; stroke-width: 2; fill: none }
        @media (prefers-color-scheme: dark) {
          text { fill: #f0f6fc }
          .page { fill: #0d1117 }
          .grid { stroke: #3d444d }
          .even { stroke: #9198a1 }
          .sluice { stroke: #4493f8 }
          .partner { stroke: #f0883e }
        }
      </style>
      """;

  private final StringBuilder text = new StringBuilder();

  Svg(int width, int height) {
    add(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%1$d\""
            + " height=\"%2$d\">",
        width, height);
    text.append(STYLE);
    add("<rect class=\"page\" width=\"%d\" height=\"%d\"/>", width, height);
  }

  Svg line(String style, double x1, double y1, double x2, double y2) {
    return add(
        "<line class=\"%s\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>",
        style, x1, y1, x2, y2);
  }

  /** From one of the points to the next. */
  Svg line(String style, double[] x, double[] y) {
    String points =
        IntStream.range(0, x.length)
            .mapToObj(i -> String.format(Locale.ROOT, "%.1f,%.1f", x[i], y[i]))
            .collect(Collectors.joining(" "));
    return add("<polyline class=\"%s\" points=\"%s\"/>", style, points);
  }

  /**
   * @param y of the middle of the letters
   */
  Svg label(String style, double x, double y, String words) {
    return add(
        "<text class=\"%s\" x=\"%.1f\" y=\"%.1f\">%s</text>", style, x, y + 4, escape(words));
  }

  private Svg add(String element, Object... values) {
    text.append(String.format(Locale.ROOT, element, values)).append('\n');
    return this;
  }

  private static String escape(String words) {
    return words.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;");
  }

  /** The whole document. */
  @Override
  public String toString() {
    return text + "</svg>\n";
  }
}
