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
 * Runs jobs and sums up their answers; their last tasks are slowed down. Workloads call it on the
 * thread of the job; the functions run in executors.
 */
final class Answers {
  /** Hash function of a record; it is sent to executors. */
  @FunctionalInterface
  interface RecordHash<T> extends ToLongFunction<T>, Serializable {}

  /** Number of records between two rests of a slowed task. */
  private static final int STRIDE = 50;

  private static final int RESTS = 10;
  private static final long REST_MS = 4;

  private Answers() {}

  /**
   * @param sums adds up the records of a partition
   */
  static <T> Sums of(JavaRDDLike<T, ?> records, FlatMapFunction<Iterator<T>, long[]> sums) {
    return Sums.of(records.mapPartitions(partition -> sums.call(slowed(partition))).collect());
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

  /**
   * Slows a reduce task down, so that a fault finds tasks that have READ only a part of their
   * blocks. The task's thread sleeps before every 50th record, ten times at most: 40 ms in all.
   */
  private static <T> Iterator<T> slowed(Iterator<T> records) {
    return new Iterator<>() {
      private int taken;

      @Override
      public boolean hasNext() {
        return records.hasNext();
      }

      @Override
      public T next() {
        if (taken++ % STRIDE == 0 && taken < RESTS * STRIDE) {
          rest();
        }
        return records.next();
      }
    };
  }

  private static void rest() {
    try {
      Thread.sleep(REST_MS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("the task was killed", e);
    }
  }
}
