// SPDX-License-Identifier: Apache-2.0
package dev.sluice.chaos.workload;

import dev.sluice.testkit.Sums;
import java.util.List;
import java.util.Map;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.sql.SparkSession;

/**
 * A job with at least one shuffle, whose answer depends on a seed only. {@code ChaosCommand}
 * chooses workloads by name. {@code FaultedJob} runs the job in the driver, on a thread for each
 * run. To add a workload, write a method and a line in {@link #ALL}. Immutable.
 *
 * @param name name for {@code --workloads}
 * @param shuffles number of shuffles; the allowed stage retries grow with it
 * @param retrySeconds seconds that a run may take longer if Spark has repeated a stage
 * @param settings settings with which the cluster must start
 * @param job the job; one thread at a time runs it
 */
public record Workload(
    String name, int shuffles, int retrySeconds, Map<String, String> settings, Job job) {
  /**
   * Value of {@code spark.barrier.sync.timeout} for the clusters. If a task of a barrier stage ends
   * after the stage was given up, Spark repeats only the other tasks, which then wait for it. The
   * default timeout is a year.
   */
  public static final int BARRIER_SYNC_SECONDS = 20;

  /** With 300 partitions, most of the 3,600 blocks (of 12 map tasks) have about 2 KB. */
  private static final int SMALL_BLOCKS = 300;

  public static final List<Workload> ALL =
      List.of(
          new Workload("group-by", 1, onRdds(RddJobs::groupBy)),
          new Workload("sort-by-key", 1, onRdds(RddJobs::sortByKey)),
          new Workload("skewed-join", 2, SqlJobs::skewedJoin),
          new Workload("cogroup", 3, onRdds(RddJobs::cogroup)),
          new Workload(
              "small-blocks",
              1,
              onRdds((spark, seed) -> RddJobs.groupBy(spark, seed, SMALL_BLOCKS))),
          // Encrypted blocks are fetched singly and have no checksums.
          new Workload(
              "io-encryption",
              1,
              0,
              Map.of("spark.io.encryption.enabled", "true"),
              onRdds(RddJobs::groupBy)),
          new Workload("barrier", 2, BARRIER_SYNC_SECONDS, Map.of(), onRdds(RddJobs::barrier)),
          new Workload("indeterminate", 2, onRdds(RddJobs::indeterminate)),
          new Workload("row-checksums", 1, SqlJobs::rowChecksums),
          new Workload("cancelled-jobs", RddJobs.CONCURRENT_JOBS, onRdds(RddJobs::cancelled)));

  /** A job on a Spark session. */
  @FunctionalInterface
  public interface Job {
    Sums run(SparkSession spark, long seed) throws Exception;
  }

  /** A job on RDDs. */
  private interface RddJob {
    Sums run(JavaSparkContext spark, long seed) throws Exception;
  }

  private Workload(String name, int shuffles, Job job) {
    this(name, shuffles, 0, Map.of(), job);
  }

  private static Job onRdds(RddJob job) {
    return (spark, seed) -> job.run(JavaSparkContext.fromSparkContext(spark.sparkContext()), seed);
  }

  /**
   * @throws IllegalArgumentException if there is no workload of that name
   */
  public static Workload named(String name) {
    return ALL.stream()
        .filter(workload -> workload.name.equals(name))
        .findFirst()
        .orElseThrow(() -> new IllegalArgumentException("unknown workload '" + name + "'"));
  }
}
