// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.ui;

import dev.sluice.spark.ui.SluiceStatus.Point;
import dev.sluice.spark.ui.SluiceUpdate.Bytes;
import java.util.List;
import java.util.Locale;
import java.util.function.ToLongFunction;

/**
 * Plot of the bytes by path over time, as stacked areas in an SVG element. The steeper it is, the
 * faster bytes arrive. {@link StatusPage} uses it, on threads of Spark's web server. Immutable.
 *
 * @param points oldest first
 */
record BytesPlot(List<Point> points) {
  /**
   * A path's area.
   *
   * @param colour light enough to be read through
   */
  record Layer(String name, String colour, ToLongFunction<Bytes> bytes) {}

  /** Layers from the bottom. */
  static final List<Layer> LAYERS =
      List.of(
          new Layer("READ, registered", "#a9cdea", Bytes::registered),
          new Layer("READ, staged", "#aadfc5", Bytes::staged),
          new Layer("local", "#d9dde1", Bytes::local),
          new Layer("Spark's own transfer (fallback)", "#f4b99b", Bytes::fallback));

  private static final int WIDTH = 960;
  private static final int HEIGHT = 270;
  private static final int LEFT = 100;
  private static final int RIGHT = 16;
  private static final int TOP = 34;
  private static final int BOTTOM = 44;
  private static final int GRID_LINES = 4;

  /** Steps of seconds for the labels of the axis: each is a round number of its unit. */
  private static final long[] STEPS_S = {
    1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 14_400, 28_800, 86_400
  };

  private static final int MOST_LABELS = 9;

  /** Steps between grid lines, in a unit of bytes. */
  private static final long[] ROUND = {
    1, 2, 3, 5, 10, 15, 20, 25, 30, 40, 50, 75, 100, 150, 200, 250, 300, 400, 500, 750
  };

  private static final String[] UNITS = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};

  /** Returns the SVG element. */
  String svg() {
    StringBuilder out =
        new StringBuilder(
            String.format(
                Locale.ROOT,
                "<svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"Shuffle bytes by path over time\""
                    + " style=\"width:100%%;max-width:1100px;font-size:12px\""
                    + " fill=\"currentColor\">",
                WIDTH,
                HEIGHT));
    legend(out);
    grid(out);
    areas(out);
    times(out);
    return out.append("</svg>").toString();
  }

  private static void legend(StringBuilder out) {
    int x = LEFT;
    for (Layer layer : LAYERS) {
      out.append(
          String.format(
              Locale.ROOT,
              "<rect x=\"%d\" y=\"8\" width=\"12\" height=\"12\" rx=\"2\" fill=\"%s\"/>",
              x,
              layer.colour()));
      out.append(
          String.format(
              Locale.ROOT, "<text x=\"%d\" y=\"18\">%s</text>", x + 18, Html.escape(layer.name())));
      x += 50 + 7 * layer.name().length();
    }
  }

  private void grid(StringBuilder out) {
    long top = roundedTop();
    for (int line = 0; line <= GRID_LINES; line++) {
      long value = top / GRID_LINES * line;
      double y = y(value);
      out.append(
          String.format(
              Locale.ROOT,
              "<line x1=\"%d\" x2=\"%d\" y1=\"%s\" y2=\"%s\" stroke=\"#e3e6e8\"/>",
              LEFT,
              WIDTH - RIGHT,
              fixed(y),
              fixed(y)));
      out.append(
          String.format(
              Locale.ROOT,
              "<text x=\"%d\" y=\"%s\" text-anchor=\"end\">%s</text>",
              LEFT - 8,
              fixed(y + 4),
              bytesLabel(value, top)));
    }
    out.append(
        String.format(
            Locale.ROOT,
            "<text transform=\"translate(14 %d) rotate(-90)\" text-anchor=\"middle\">bytes so far</text>",
            (TOP + HEIGHT - BOTTOM) / 2));
  }

  private void areas(StringBuilder out) {
    if (points.isEmpty()) {
      return;
    }
    long[] base = new long[points.size()];
    for (Layer layer : LAYERS) {
      long[] upper = new long[base.length];
      StringBuilder above = new StringBuilder();
      StringBuilder below = new StringBuilder();
      for (int i = 0; i < base.length; i++) {
        Point point = points.get(i);
        upper[i] = base[i] + layer.bytes().applyAsLong(point.bytes());
        above.append(corner(point.time(), upper[i]));
        below.insert(0, corner(point.time(), base[i]));
      }
      out.append(
          String.format(
              Locale.ROOT,
              "<polygon points=\"%s\" fill=\"%s\"/>",
              above.append(below).toString().strip(),
              layer.colour()));
      base = upper;
    }
  }

  private void times(StringBuilder out) {
    int bottom = HEIGHT - BOTTOM;
    long seconds = Math.max(1, millis() / 1_000);
    long step = stepSeconds(seconds);
    for (long s = 0; s <= seconds; s += step) {
      double x = LEFT + (double) s * 1_000 / Math.max(1_000, millis()) * (WIDTH - LEFT - RIGHT);
      out.append(
          String.format(
              Locale.ROOT,
              "<line x1=\"%s\" x2=\"%s\" y1=\"%d\" y2=\"%d\" stroke=\"#aab2b8\"/>",
              fixed(x),
              fixed(x),
              bottom,
              bottom + 5));
      out.append(
          String.format(
              Locale.ROOT,
              "<text x=\"%s\" y=\"%d\" text-anchor=\"middle\">%s</text>",
              fixed(x),
              bottom + 19,
              label(s, step)));
    }
    out.append(
        String.format(
            Locale.ROOT,
            "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">time since the first shuffle (%s)</text>",
            (LEFT + WIDTH - RIGHT) / 2,
            HEIGHT - 6,
            unit(step)));
  }

  private static long stepSeconds(long seconds) {
    for (long step : STEPS_S) {
      if (seconds / step <= MOST_LABELS) {
        return step;
      }
    }
    long days = seconds / 86_400;
    return (days / MOST_LABELS + 1) * 86_400;
  }

  private static String unit(long step) {
    return step < 60 ? "s" : step < 3_600 ? "min" : "h";
  }

  private static String label(long seconds, long step) {
    long unit = step < 60 ? 1 : step < 3_600 ? 60 : 3_600;
    return String.valueOf(seconds / unit);
  }

  private long millis() {
    return points.isEmpty() ? 0 : points.get(points.size() - 1).time() - points.get(0).time();
  }

  /** Returns a round number of bytes, such as 1,200 MiB, in the unit of the axis. */
  private static String bytesLabel(long bytes, long top) {
    int unit = 0;
    long perUnit = 1;
    while (unit < UNITS.length - 1 && perUnit * 1_024 <= top / GRID_LINES) {
      perUnit *= 1_024;
      unit++;
    }
    return Html.count(bytes / perUnit) + " " + UNITS[unit];
  }

  /** Returns a multiple of the number of grid lines that is not below any area, and rounded. */
  private long roundedTop() {
    long most = points.isEmpty() ? 0 : points.get(points.size() - 1).bytes().all();
    long perLine = Math.max(1, (most + GRID_LINES - 1) / GRID_LINES);
    long unit = 1;
    while (unit < 1L << 50 && unit * 1_024 <= perLine) {
      unit *= 1_024;
    }
    for (long round : ROUND) {
      if (round * unit >= perLine) {
        return round * unit * GRID_LINES;
      }
    }
    return unit * 1_024 * GRID_LINES;
  }

  private String corner(long time, long bytes) {
    double x =
        LEFT
            + (double) (time - points.get(0).time())
                / Math.max(1_000, millis())
                * (WIDTH - LEFT - RIGHT);
    return fixed(x) + "," + fixed(y(bytes)) + " ";
  }

  private double y(long bytes) {
    int bottom = HEIGHT - BOTTOM;
    return bottom - (double) bytes / roundedTop() * (bottom - TOP);
  }

  private static String fixed(double value) {
    return String.format(Locale.ROOT, "%.1f", value);
  }
}
