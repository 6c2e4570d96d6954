// SPDX-License-Identifier: Apache-2.0
package dev.sluice.testkit;

import java.util.Arrays;
import java.util.Locale;
import org.apache.commons.math3.stat.descriptive.rank.Median;

/** Summary of repeated values: their median with minimum and maximum; NaN if there are none. */
public record Spread(double median, double min, double max) {
  private static final int SIGNIFICANT_DIGITS = 3;
  private static final int MOST_DECIMALS = 6;

  public static Spread of(double... values) {
    return new Spread(
        median(values),
        Arrays.stream(values).min().orElse(Double.NaN),
        Arrays.stream(values).max().orElse(Double.NaN));
  }

  /** Returns the middle value, or the mean of the two in the middle; NaN of no values. */
  public static double median(double... values) {
    return new Median().evaluate(values);
  }

  /** Formats with three significant digits, or more if the integer part is longer. */
  public static String format(double value) {
    int magnitude = value == 0 ? 0 : (int) Math.floor(Math.log10(Math.abs(value)));
    int decimals = Math.clamp(SIGNIFICANT_DIGITS - 1 - magnitude, 0, MOST_DECIMALS);
    return String.format(Locale.ROOT, "%,." + decimals + "f", value);
  }

  @Override
  public String toString() {
    return min == max
        ? format(median)
        : "%s (%s to %s)".formatted(format(median), format(min), format(max));
  }
}
