// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.doctor;

import java.io.Serializable;
import java.util.List;
import java.util.OptionalDouble;

/**
 * Result of one node's READs from another one. The node that READs makes it, and the driver's
 * {@link Mesh} and {@link MeshOutliers} judge it. Immutable.
 *
 * @param to host that READs
 * @param from host whose bytes are READ
 * @param bytesPerSecond bandwidth of large READs
 * @param micros latency of a small READ in microseconds
 * @param linkBytesPerSecond rate of the slower port; 0 if it is not known
 * @param failure why there are no figures; empty if there are
 * @param set remedy for the failure
 */
public record MeshRead(
    String to,
    String from,
    double bytesPerSecond,
    double micros,
    double linkBytesPerSecond,
    String failure,
    String set)
    implements Serializable {
  /** READs below this part of the median bandwidth are slow: READs of others share the links. */
  private static final double SLOW = 0.5;

  public MeshRead(
      String to, String from, double bytesPerSecond, double micros, double linkBytesPerSecond) {
    this(to, from, bytesPerSecond, micros, linkBytesPerSecond, "", "");
  }

  public static MeshRead failed(String to, String from, String failure, String set) {
    return new MeshRead(to, from, 0, 0, 0, failure, set);
  }

  public boolean failed() {
    return !failure.isEmpty();
  }

  public boolean isSlow(double median) {
    return !failed() && bytesPerSecond < SLOW * median;
  }

  /** Returns the median part of the slower port's rate that READs reach, without failed ones. */
  static OptionalDouble medianShare(List<MeshRead> reads) {
    double[] sorted =
        reads.stream()
            .filter(read -> !read.failed() && read.linkBytesPerSecond > 0)
            .mapToDouble(read -> read.bytesPerSecond / read.linkBytesPerSecond)
            .sorted()
            .toArray();
    return sorted.length == 0
        ? OptionalDouble.empty()
        : OptionalDouble.of(sorted[sorted.length / 2]);
  }

  /** Returns the median bandwidth without failed READs; 0 if all failed. */
  public static double median(List<MeshRead> reads) {
    double[] sorted =
        reads.stream()
            .filter(read -> !read.failed())
            .mapToDouble(MeshRead::bytesPerSecond)
            .sorted()
            .toArray();
    return sorted.length == 0 ? 0 : sorted[sorted.length / 2];
  }

  /** Returns both hosts, and bandwidth and latency or the failure. */
  @Override
  public String toString() {
    String pair = to + " from " + from + ": ";
    return failed()
        ? pair + failure
        : pair + String.format("%.0f MB/s, %.1f us", bytesPerSecond / 1e6, micros);
  }
}
