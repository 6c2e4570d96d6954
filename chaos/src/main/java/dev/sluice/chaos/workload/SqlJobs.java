// SPDX-License-Identifier: Apache-2.0
package dev.sluice.chaos.workload;

import static org.apache.spark.sql.functions.col;
import static org.apache.spark.sql.functions.count;
import static org.apache.spark.sql.functions.expr;
import static org.apache.spark.sql.functions.max;

import dev.sluice.testkit.Sums;
import java.util.Map;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;

/**
 * Workloads in SQL, which {@link Workload} lists. The thread of the job calls a method. It sets
 * settings of the shared session while it runs, so only one may run at a time.
 */
final class SqlJobs {
  private static final Map<String, String> SKEWED_JOIN =
      Map.of(
          "spark.sql.autoBroadcastJoinThreshold", "-1",
          "spark.sql.adaptive.autoBroadcastJoinThreshold", "-1",
          "spark.sql.adaptive.skewJoin.skewedPartitionThresholdInBytes", "200k",
          "spark.sql.adaptive.skewJoin.skewedPartitionFactor", "2",
          "spark.sql.adaptive.advisoryPartitionSizeInBytes", "200k",
          "spark.sql.shuffle.partitions", Integer.toString(RddJobs.PARTITIONS));

  private static final Map<String, String> ROW_CHECKSUMS =
      Map.of(
          "spark.sql.shuffle.orderIndependentChecksum.enabled", "true",
          "spark.sql.adaptive.enabled", "false",
          "spark.sql.shuffle.partitions", Integer.toString(RddJobs.PARTITIONS));

  private static final int ROWS = 60_000;
  private static final int ROWS_TO_JOIN = 2_000;
  private static final int MAPS = 12;

  private SqlJobs() {}

  /** Joins rows of which every second one has the same key, so that AQE splits its partition. */
  static Sums skewedJoin(SparkSession spark, long seed) {
    Dataset<Row> large = rows(spark, seed, "if(id %% 2 = 0, 7, id %% %d)".formatted(ROWS_TO_JOIN));
    Dataset<Row> small =
        spark
            .range(0, ROWS_TO_JOIN, 1, MAPS)
            .select(col("id").as("key"), expr("id * 3").as("other"));
    return answer(spark, SKEWED_JOIN, large.join(small, "key"));
  }

  /** Uses row checksums, by which Spark sees if a repeated map task wrote the same rows. */
  static Sums rowChecksums(SparkSession spark, long seed) {
    return answer(
        spark,
        ROW_CHECKSUMS,
        rows(spark, seed, "id % 9000")
            .repartition(RddJobs.PARTITIONS, col("key"))
            .groupBy("key")
            .agg(count("value"), max("value")));
  }

  private static Sums answer(SparkSession spark, Map<String, String> settings, Dataset<Row> rows) {
    settings.forEach(spark.conf()::set);
    try {
      return Answers.of(rows);
    } finally {
      settings.keySet().forEach(spark.conf()::unset);
    }
  }

  private static Dataset<Row> rows(SparkSession spark, long seed, String key) {
    return spark
        .range(0, ROWS, 1, MAPS)
        .select(
            expr(key).as("key"),
            expr("sha2(concat(id, ':', %d), 256)".formatted(seed)).as("value"));
  }
}
