// SPDX-License-Identifier: Apache-2.0
package dev.sluice.chaos.workload;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.sluice.testkit.Sums;
import java.io.Serializable;
import java.util.Iterator;
import java.util.function.ToLongFunction;
import org.apache.spark.api.java.JavaRDDLike;
import org.apache.spark.api.java.function.FlatMapFunction;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;

/**
 * Runs jobs and sums up their answers; their last tasks are slowed down by {@link Pace}. Workloads
 * call it on the thread of the job; the functions run in executors.
 */
final class Answers {
  /** Hash function of a record; it is sent to executors. */
  @FunctionalInterface
  interface RecordHash<T> extends ToLongFunction<T>, Serializable {}

  private Answers() {}

  /**
   * @param sums adds up the records of a partition
   */
  static <T> Sums of(JavaRDDLike<T, ?> records, FlatMapFunction<Iterator<T>, long[]> sums) {
    return Sums.of(records.mapPartitions(partition -> sums.call(Pace.of(partition))).collect());
  }

  /** Returns the sums of all records, by the hash of each. */
  static <T> Sums ofEach(JavaRDDLike<T, ?> records, RecordHash<T> hash) {
    return of(records, partition -> Sums.ofTask(partition, hash));
  }

  static Sums of(Dataset<Row> rows) {
    return ofEach(rows.toJavaRDD(), row -> hash(row.toString().getBytes(UTF_8)));
  }

  /** Returns the 64-bit FNV-1a hash. */
  static long hash(byte[] bytes) {
    long hash = 0xcbf29ce484222325L;
    for (byte b : bytes) {
      hash = (hash ^ (b & 0xff)) * 0x100000001b3L;
    }
    return hash;
  }
}
