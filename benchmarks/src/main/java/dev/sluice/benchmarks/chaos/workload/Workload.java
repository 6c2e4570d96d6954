package dev.sluice.benchmarks.chaos.workload;

import dev.sluice.benchmarks.storm.Sums;
import java.util.List;
import java.util.Map;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.sql.SparkSession;

/**
 * A job with at least one shuffle whose answer depends on nothing but a seed. A new one is a method
 * here and a line in {@link #ALL}.
 *
 * @param name as in {@code --workloads}
 * @param shuffles how many it has, of all its jobs
 * @param retrySeconds what it may wait for when Spark repeats a stage of it
 * @param settings what the cluster has to be started with
 * @param job one thread at a time runs it
 */
public record Workload(
    String name, int shuffles, int retrySeconds, Map<String, String> settings, Job job) {
  /**
   * {@code spark.barrier.sync.timeout} of the clusters. Where a task of a barrier stage ends after
   * the stage was given up, Spark repeats only the others, which wait for it: for a year, unless
   * told otherwise.
   */
  public static final int BARRIER_SYNC_SECONDS = 20;

  /** With 300 partitions most of 3,600 blocks have about two kilobytes. */
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
          // Blocks come one by one, and without checksums.
          new Workload(
              "io-encryption",
              1,
              0,
              Map.of("spark.io.encryption.enabled", "true"),
              onRdds(RddJobs::groupBy)),
          new Workload("barrier", 2, BARRIER_SYNC_SECONDS, Map.of(), onRdds(RddJobs::barrier)),
          new Workload("indeterminate", 2, onRdds(RddJobs::indeterminate)),
          new Workload("row-checksums", 1, SqlJobs::rowChecksums),
          new Workload("cancelled-jobs", CancelledJobs.SHUFFLES, onRdds(CancelledJobs::run)));

  /** What is run. */
  @FunctionalInterface
  public interface Job {
    Sums run(SparkSession spark, long seed) throws Exception;
  }

  /** The same, of RDDs. */
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
   * @throws IllegalArgumentException for one that there is not
   */
  public static Workload named(String name) {
    return ALL.stream()
        .filter(workload -> workload.name.equals(name))
        .findFirst()
        .orElseThrow(() -> new IllegalArgumentException("there is no workload '" + name + "'"));
  }
}
