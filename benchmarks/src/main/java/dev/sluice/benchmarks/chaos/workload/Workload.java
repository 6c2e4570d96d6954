package dev.sluice.benchmarks.chaos.workload;

import java.util.List;
import java.util.Map;
import org.apache.spark.sql.SparkSession;

/**
 * A job with at least one shuffle whose answer depends on nothing but a seed. A new one is a class
 * of its own here and a line in {@link #ALL}.
 */
public interface Workload {
  /**
   * {@code spark.barrier.sync.timeout} of the clusters. Where a task of a barrier stage ends after
   * the stage was given up, Spark repeats only the others, which wait for it: for a year, unless
   * told otherwise.
   */
  int BARRIER_SYNC_SECONDS = 20;

  List<Workload> ALL =
      List.of(
          new GroupBy("group-by", Records.PARTITIONS, Map.of()),
          new SortByKey(),
          new SkewedJoin(),
          new Cogroup(),
          new GroupBy("small-blocks", 300, Map.of()),
          // Blocks come one by one, and without checksums.
          new GroupBy(
              "io-encryption", Records.PARTITIONS, Map.of("spark.io.encryption.enabled", "true")),
          new Barrier(),
          new Indeterminate(),
          new RowChecksums(),
          new CancelledJobs());

  /**
   * @throws IllegalArgumentException for one that there is not
   */
  static Workload named(String name) {
    return ALL.stream()
        .filter(workload -> workload.name().equals(name))
        .findFirst()
        .orElseThrow(() -> new IllegalArgumentException("there is no workload '" + name + "'"));
  }

  /** As in {@code --workloads}. */
  String name();

  /** What the cluster has to be started with. */
  default Map<String, String> settings() {
    return Map.of();
  }

  /** How many shuffles it has, of all its jobs. */
  default int shuffles() {
    return 1;
  }

  /** What it may wait for when Spark repeats a stage of it, in seconds. */
  default int retrySeconds() {
    return 0;
  }

  /** Runs the job; called on one thread at a time. */
  Answer run(SparkSession spark, long seed) throws Exception;
}
