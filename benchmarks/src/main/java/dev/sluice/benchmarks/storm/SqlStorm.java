// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks.storm;

import static org.apache.spark.sql.functions.count;
import static org.apache.spark.sql.functions.max;
import static org.apache.spark.sql.functions.sum;

import dev.sluice.testkit.Sums;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.InternalRow;

/**
 * Shuffles rows of four numbers. The job reads Spark's internal rows after the shuffle, so that the
 * reduce stage does nothing else. The main thread of {@link StormJob} prepares it; {@link #hash}
 * runs in executors and takes every column for a long.
 */
final class SqlStorm {
  /** Bytes of a row: its length, its null bits, and four numbers. */
  private static final int ROW_BYTES = 4 + 8 + 4 * 8;

  /** Number of rows with the same key, each in another map task. */
  private static final int ROWS_PER_KEY = 4;

  private SqlStorm() {}

  static JavaRDD<long[]> repartitioned(JavaSparkContext spark, StormCase storm) {
    return sums(
        numbers(storm)
            .selectExpr("id", "xxhash64(id) a", "xxhash64(id, 1) b", "xxhash64(id, 2) c")
            .repartition(storm.partitions()));
  }

  static JavaRDD<long[]> aggregated(JavaSparkContext spark, StormCase storm) {
    long keys = Math.ceilDiv(rows(storm), ROWS_PER_KEY);
    return sums(
        numbers(storm)
            .selectExpr("xxhash64(id %% %d) k".formatted(keys), "id", "xxhash64(id) a")
            .groupBy("k")
            .agg(sum("id"), max("a"), count("id")));
  }

  private static Dataset<Long> numbers(StormCase storm) {
    return SparkSession.builder().getOrCreate().range(0, rows(storm), 1, storm.maps());
  }

  private static long rows(StormCase storm) {
    return storm.blocks() * Math.max(1, Math.round((double) storm.blockBytes() / ROW_BYTES));
  }

  private static JavaRDD<long[]> sums(Dataset<Row> dataset) {
    JavaRDD<InternalRow> rows =
        ((org.apache.spark.sql.classic.Dataset<Row>) dataset).queryExecution().toRdd().toJavaRDD();
    return rows.mapPartitions(partition -> Sums.ofTask(partition, SqlStorm::hash));
  }

  private static long hash(InternalRow row) {
    long hash = 0;
    for (int i = 0; i < row.numFields(); i++) {
      hash = 31 * hash + row.getLong(i);
    }
    return hash;
  }
}
