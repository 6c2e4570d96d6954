package dev.sluice.benchmarks.storm;

import java.util.List;

/**
 * What came through a shuffle; the same whatever the order.
 *
 * @param records their number
 * @param checksum the sum of their hashes
 */
public record Sums(long records, long checksum) {

  /** Adds up what tasks have found: arrays of records and checksum, which any serializer takes. */
  public static Sums of(List<long[]> tasks) {
    return new Sums(
        tasks.stream().mapToLong(task -> task[0]).sum(),
        tasks.stream().mapToLong(task -> task[1]).sum());
  }

  public Sums plus(Sums other) {
    return new Sums(records + other.records, checksum + other.checksum);
  }
}
