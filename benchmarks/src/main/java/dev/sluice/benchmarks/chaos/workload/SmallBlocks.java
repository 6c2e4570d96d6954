package dev.sluice.benchmarks.chaos.workload;

import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.sql.SparkSession;

/** 300 partitions, so that most of 3,600 blocks have about two kilobytes. */
final class SmallBlocks implements Workload {
  private static final int PARTITIONS = 300;

  @Override
  public String name() {
    return "small-blocks";
  }

  @Override
  public Answer run(SparkSession spark, long seed) {
    return GroupBy.of(
        Records.of(JavaSparkContext.fromSparkContext(spark.sparkContext()), seed), PARTITIONS);
  }
}
