package dev.sluice.benchmarks.chaos;

import java.util.List;

/** What processes held over the time of a long series: one small plot for each kind. */
final class HeldPlot {
  private static final List<String> KINDS =
      List.of("descriptors", "threads", "mapped files", "resident", "heap");

  private static final int WIDTH = 900;
  private static final int HEIGHT = 110;
  private static final int LEFT = 170;
  private static final int RIGHT = 800;
  private static final int TOP = 40;

  private HeldPlot() {}

  /** Blue: the executor that has most; orange: the driver. */
  static String of(List<ChaosRun> runs) {
    List<RunResult> results = HeldLevels.inOrder(runs);
    if (results.isEmpty()) {
      return new Svg(WIDTH, TOP).toString();
    }
    Svg svg = new Svg(WIDTH, TOP + HEIGHT * KINDS.size());
    long begin = results.getFirst().endMs();
    double minutes = Math.max(1, results.getLast().endMs() - begin) / 60_000.0;
    svg.label("", 10, 14, "blue: the executor that has most; orange: the driver");
    svg.label("small middle", RIGHT, TOP - 12, "%.0f min".formatted(minutes));
    for (int i = 0; i < KINDS.size(); i++) {
      draw(svg, results, KINDS.get(i), TOP + HEIGHT * i);
    }
    return svg.toString();
  }

  private static void draw(Svg svg, List<RunResult> results, String kind, int top) {
    double most =
        results.stream()
            .mapToLong(result -> Math.max(value(result, kind), value(result, "driver " + kind)))
            .max()
            .orElseThrow();
    int bottom = top + HEIGHT - 20;
    svg.line("grid", LEFT, top, RIGHT, top);
    svg.line("even", LEFT, bottom, RIGHT, bottom);
    svg.label("end", LEFT - 10, (top + bottom) / 2.0, kind);
    svg.label("small end", LEFT - 10, top, format(most));
    line(svg, "sluice", results, kind, most, top, bottom);
    line(svg, "partner", results, "driver " + kind, most, top, bottom);
  }

  private static void line(
      Svg svg,
      String style,
      List<RunResult> results,
      String key,
      double most,
      int top,
      int bottom) {
    long begin = results.getFirst().endMs();
    double span = Math.max(1, results.getLast().endMs() - begin);
    double[] x = new double[results.size()];
    double[] y = new double[results.size()];
    for (int i = 0; i < results.size(); i++) {
      RunResult result = results.get(i);
      x[i] = LEFT + (result.endMs() - begin) / span * (RIGHT - LEFT);
      y[i] = bottom - value(result, key) / most * (bottom - top);
    }
    svg.line(style, x, y);
  }

  private static long value(RunResult result, String key) {
    return result.held().getOrDefault(key, 0L);
  }

  private static String format(double value) {
    return value < 1 << 20 ? "%.0f".formatted(value) : "%.0f MiB".formatted(value / (1 << 20));
  }
}
