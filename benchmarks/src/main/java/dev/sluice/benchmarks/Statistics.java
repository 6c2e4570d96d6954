package dev.sluice.benchmarks;

import java.util.Arrays;

/** What is said of repeated measurements. */
public final class Statistics {
  private Statistics() {}

  /** The middle one, or the mean of the two in the middle; NaN of none. */
  public static double median(double... values) {
    if (values.length == 0) {
      return Double.NaN;
    }
    double[] sorted = values.clone();
    Arrays.sort(sorted);
    int middle = sorted.length / 2;
    return sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
  }
}
