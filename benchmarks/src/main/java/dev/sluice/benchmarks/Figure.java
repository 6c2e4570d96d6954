package dev.sluice.benchmarks;

import java.util.Arrays;
import java.util.Locale;

/**
 * A measurement that was repeated.
 *
 * @param name what was measured
 * @param unit of the values
 */
public record Figure(String name, String unit, double median, double min, double max, int count) {

  public static Figure of(String name, String unit, double... values) {
    return new Figure(
        name,
        unit,
        Statistics.median(values),
        Arrays.stream(values).min().orElse(Double.NaN),
        Arrays.stream(values).max().orElse(Double.NaN),
        values.length);
  }

  /** A line of a table. */
  public String line() {
    return String.format(
        Locale.ROOT, "%-44s %10.2f %-7s %10.2f to %.2f", name, median, unit, min, max);
  }
}
