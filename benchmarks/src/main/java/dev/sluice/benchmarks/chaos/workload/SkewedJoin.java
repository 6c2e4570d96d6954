package dev.sluice.benchmarks.chaos.workload;

import static org.apache.spark.sql.functions.col;
import static org.apache.spark.sql.functions.expr;

import java.util.Map;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;

/** A join in which every second row has one key, so that AQE splits that key's partition. */
final class SkewedJoin implements Workload {
  private static final int LARGE = 60_000;
  private static final int SMALL = 2_000;

  @Override
  public String name() {
    return "skewed-join";
  }

  @Override
  public Map<String, String> settings() {
    return Map.of(
        "spark.sql.autoBroadcastJoinThreshold", "-1",
        "spark.sql.adaptive.autoBroadcastJoinThreshold", "-1",
        "spark.sql.adaptive.skewJoin.skewedPartitionThresholdInBytes", "200k",
        "spark.sql.adaptive.skewJoin.skewedPartitionFactor", "2",
        "spark.sql.adaptive.advisoryPartitionSizeInBytes", "200k",
        "spark.sql.shuffle.partitions", Integer.toString(Records.PARTITIONS));
  }

  @Override
  public int shuffles() {
    return 2;
  }

  @Override
  public Answer run(SparkSession spark, long seed) {
    Dataset<Row> large =
        spark
            .range(0, LARGE, 1, 12)
            .select(
                expr("if(id %% 2 = 0, 7, id %% %d)".formatted(SMALL)).as("key"),
                expr("sha2(concat(id, ':', %d), 256)".formatted(seed)).as("value"));
    Dataset<Row> small =
        spark.range(0, SMALL, 1, 12).select(col("id").as("key"), expr("id * 3").as("other"));
    return Answer.of(large.join(small, "key"));
  }
}
