// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks.bench;

import dev.sluice.benchmarks.Comparison;
import dev.sluice.benchmarks.Comparison.Better;
import dev.sluice.testkit.Spread;
import java.util.List;
import java.util.Locale;

/**
 * Bars of ratios as an SVG image: one for each row, with the range of its rounds, and a line where
 * Sluice is as good as its partner. {@link ReportCommand} writes it next to its document. No state.
 */
final class RatioPlot {
  // In pixels.
  private static final int LINE = 18;
  private static final int NAMES = 360;
  private static final int UNIT = 200;
  private static final int VALUES = 60;
  private static final int GAP = 6;

  /** Bars of larger ratios are cut. */
  private static final double LARGEST = 2;

  private static final String GOOD = "#2a7f9e";
  private static final String BAD = "#d9822b";

  private RatioPlot() {}

  static String svg(List<Comparison> rows) {
    int right = NAMES + (int) (LARGEST * UNIT);
    int height = LINE * (rows.size() + 3);
    StringBuilder svg = new StringBuilder();
    add(
        svg,
        String.format(
            Locale.ROOT,
            "<svg xmlns='http://www.w3.org/2000/svg' width='%d' height='%d' font-family='sans-serif'"
                + " font-size='12'>",
            right + VALUES,
            height));
    add(svg, "<rect width='100%' height='100%' fill='white'/>");
    add(
        svg,
        String.format(
            Locale.ROOT,
            "<text x='%d' y='13'>Sluice's value / partner's; blue is better</text>",
            NAMES));
    for (int i = 0; i < rows.size(); i++) {
      addRow(svg, rows.get(i), LINE * (i + 1) + LINE / 2);
    }
    int one = x(1);
    add(
        svg,
        String.format(
            Locale.ROOT, "<path d='M%d %dV%d' stroke='black'/>", one, LINE, height - LINE - 5));
    add(
        svg,
        String.format(
            Locale.ROOT, "<text x='%d' y='%d' text-anchor='middle'>1.0</text>", one, height - 5));
    return svg.append("</svg>\n").toString();
  }

  /**
   * @param y the row's first pixel from the top
   */
  private static void addRow(StringBuilder svg, Comparison row, int y) {
    Spread ratios = Spread.of(row.ratios());
    boolean good = row.better() == Better.LESS ? row.ratio() <= 1 : row.ratio() >= 1;
    int middle = y + LINE / 2 - 2;
    add(
        svg,
        String.format(
            Locale.ROOT,
            "<text x='%d' y='%d' text-anchor='end'>%s</text>",
            NAMES - GAP,
            y + 12,
            row.name().replace("&", "&amp;").replace("<", "&lt;")));
    add(
        svg,
        String.format(
            Locale.ROOT,
            "<rect x='%d' y='%d' width='%d' height='%d' fill='%s'/>",
            NAMES,
            y + 2,
            x(row.ratio()) - NAMES,
            LINE - GAP,
            good ? GOOD : BAD));
    add(
        svg,
        String.format(
            Locale.ROOT,
            "<path d='M%d %dH%d' stroke='black' stroke-opacity='0.5'/>",
            x(ratios.min()),
            middle,
            x(ratios.max())));
    int end = x(Math.max(row.ratio(), ratios.max()));
    boolean crossesTheLine = end < x(1) && end > x(1) - VALUES;
    add(
        svg,
        String.format(
            Locale.ROOT,
            "<text x='%d' y='%d'>%s</text>",
            (crossesTheLine ? x(1) : end) + GAP,
            y + 12,
            Spread.format(row.ratio())));
  }

  private static int x(double ratio) {
    return NAMES + (int) Math.round(UNIT * Math.clamp(ratio, 0, LARGEST));
  }

  private static void add(StringBuilder svg, String element) {
    svg.append(element).append('\n');
  }
}
