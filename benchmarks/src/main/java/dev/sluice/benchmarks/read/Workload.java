package dev.sluice.benchmarks.read;

import dev.sluice.benchmarks.Sizes;
import java.util.ArrayList;
import java.util.List;

/**
 * READs to measure: their latency where one is under way at a time, else their bandwidth.
 *
 * @param bytes of one READ
 * @param inFlight READs under way at a time
 */
record Workload(int bytes, int inFlight) {
  /** More is never under way: an executor's buffers would not hold it either. */
  private static final long MAX_BYTES_IN_FLIGHT = 64L << 20;

  /** Every size with every depth, but for what is too much to be under way. */
  static List<Workload> grid(List<Integer> sizes, List<Integer> depths) {
    List<Workload> grid = new ArrayList<>();
    for (int bytes : sizes) {
      for (int inFlight : depths) {
        if ((long) bytes * inFlight <= MAX_BYTES_IN_FLIGHT) {
          grid.add(new Workload(bytes, inFlight));
        }
      }
    }
    return grid;
  }

  /** As in the names of rows. */
  String name() {
    return Sizes.binary(bytes) + "-x" + inFlight;
  }

  boolean isLatency() {
    return inFlight == 1;
  }
}
