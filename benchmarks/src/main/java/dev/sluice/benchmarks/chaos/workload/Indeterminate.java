package dev.sluice.benchmarks.chaos.workload;

import org.apache.spark.HashPartitioner;
import org.apache.spark.SparkException;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.sql.SparkSession;

/**
 * A round-robin shuffle of what a shuffle brought, whose output depends on the order of its input:
 * Spark has to repeat all of the stage when a part of it is lost, and gives up a job whose result
 * has begun. Then the whole job runs once more, as its user would have it.
 */
final class Indeterminate implements Workload {
  private static final int ATTEMPTS = 4;

  @Override
  public String name() {
    return "indeterminate";
  }

  @Override
  public int shuffles() {
    return 2;
  }

  @Override
  public Answer run(SparkSession spark, long seed) throws Exception {
    JavaSparkContext context = JavaSparkContext.fromSparkContext(spark.sparkContext());
    for (int attempt = 1; ; attempt++) {
      try {
        return once(context, seed);
      } catch (Exception e) { // Scala throws checked ones that it does not declare.
        boolean given = e instanceof SparkException && e.toString().contains("indeterminate");
        if (!given || attempt == ATTEMPTS) {
          throw e;
        }
      }
    }
  }

  private static Answer once(JavaSparkContext context, long seed) {
    return Answer.ofEach(
        Records.of(context, seed)
            .partitionBy(new HashPartitioner(Records.PARTITIONS))
            .repartition(Records.PARTITIONS / 2),
        Records::hash);
  }
}
