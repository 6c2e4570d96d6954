package dev.sluice.benchmarks.storm;

import java.util.List;

/**
 * Digest of the records that came through a shuffle, independent of their order. Drivers of storms,
 * of {@code bench node} and of the fault harness make it; it is equal if the records are.
 *
 * @param records number of records
 * @param checksum sum of their hashes
 */
public record Sums(long records, long checksum) {

  /** Adds up the tasks' sums: arrays of count and checksum, which any serializer supports. */
  public static Sums of(List<long[]> tasks) {
    return new Sums(
        tasks.stream().mapToLong(task -> task[0]).sum(),
        tasks.stream().mapToLong(task -> task[1]).sum());
  }

  public Sums plus(Sums other) {
    return new Sums(records + other.records, checksum + other.checksum);
  }
}
