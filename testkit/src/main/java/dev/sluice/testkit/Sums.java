// SPDX-License-Identifier: Apache-2.0
package dev.sluice.testkit;

import java.util.Iterator;
import java.util.List;
import java.util.function.ToLongFunction;

/**
 * Digest of the records that came through a shuffle, independent of their order. Drivers of storms,
 * of {@code bench node} and of the fault harness make it; it is equal if the records are. Drivers
 * send it to the command as JSON, so a public getter would become a field.
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

  /** Returns the number of rows and the sum of their hashes, as input of {@link #of}. */
  public static <T> Iterator<long[]> ofTask(Iterator<T> rows, ToLongFunction<T> value) {
    long count = 0;
    long checksum = 0;
    while (rows.hasNext()) {
      count++;
      checksum += value.applyAsLong(rows.next());
    }
    return List.of(new long[] {count, checksum}).iterator();
  }

  public Sums plus(Sums other) {
    return new Sums(records + other.records, checksum + other.checksum);
  }
}
