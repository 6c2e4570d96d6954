package dev.sluice.spark.doctor;

import java.io.Serializable;
import java.util.List;

/**
 * What READs of one node from another one took.
 *
 * @param to host that READs
 * @param from whose bytes
 * @param bytesPerSecond of large READs
 * @param micros of a small one
 * @param failure why there are none; empty where there are
 * @param set what to set or to do about that
 */
public record MeshRead(
    String to, String from, double bytesPerSecond, double micros, String failure, String set)
    implements Serializable {
  /** Less than this part of the median bandwidth is slow. */
  private static final double SLOW = 0.5;

  public MeshRead(String to, String from, double bytesPerSecond, double micros) {
    this(to, from, bytesPerSecond, micros, "", "");
  }

  public static MeshRead failed(String to, String from, String failure, String set) {
    return new MeshRead(to, from, 0, 0, failure, set);
  }

  public boolean failed() {
    return !failure.isEmpty();
  }

  public boolean isSlow(double median) {
    return !failed() && bytesPerSecond < SLOW * median;
  }

  /** The median bandwidth of those that did not fail; 0 where all did. */
  public static double median(List<MeshRead> reads) {
    double[] sorted =
        reads.stream()
            .filter(read -> !read.failed())
            .mapToDouble(MeshRead::bytesPerSecond)
            .sorted()
            .toArray();
    return sorted.length == 0 ? 0 : sorted[sorted.length / 2];
  }

  /** Who READs from whom, and what came of it. */
  @Override
  public String toString() {
    String pair = to + " from " + from + ": ";
    return failed()
        ? pair + failure
        : pair + String.format("%.0f MB/s, %.1f us", bytesPerSecond / 1e6, micros);
  }
}
