package dev.sluice.benchmarks.chaos.workload;

import static org.apache.spark.sql.functions.col;
import static org.apache.spark.sql.functions.count;
import static org.apache.spark.sql.functions.expr;
import static org.apache.spark.sql.functions.max;

import java.util.Map;
import org.apache.spark.sql.SparkSession;

/** SQL with checksums over rows, which tell Spark whether a repeated map task wrote the same. */
final class RowChecksums implements Workload {
  private static final int ROWS = 60_000;

  @Override
  public String name() {
    return "row-checksums";
  }

  @Override
  public Map<String, String> settings() {
    return Map.of(
        "spark.sql.shuffle.orderIndependentChecksum.enabled", "true",
        "spark.sql.adaptive.enabled", "false",
        "spark.sql.shuffle.partitions", Integer.toString(Records.PARTITIONS));
  }

  @Override
  public Answer run(SparkSession spark, long seed) {
    return Answer.of(
        spark
            .range(0, ROWS, 1, 12)
            .select(
                expr("id % 9000").as("key"),
                expr("sha2(concat(id, ':', %d), 256)".formatted(seed)).as("value"))
            .repartition(Records.PARTITIONS, col("key"))
            .groupBy("key")
            .agg(count("value"), max("value")));
  }
}
