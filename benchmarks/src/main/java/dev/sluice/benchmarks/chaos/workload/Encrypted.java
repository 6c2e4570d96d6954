package dev.sluice.benchmarks.chaos.workload;

import java.util.Map;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.sql.SparkSession;

/** Shuffle files are encrypted: blocks come one by one, and without checksums. */
final class Encrypted implements Workload {
  @Override
  public String name() {
    return "io-encryption";
  }

  @Override
  public Map<String, String> settings() {
    return Map.of("spark.io.encryption.enabled", "true");
  }

  @Override
  public Answer run(SparkSession spark, long seed) {
    return GroupBy.of(
        Records.of(JavaSparkContext.fromSparkContext(spark.sparkContext()), seed),
        Records.PARTITIONS);
  }
}
