// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks.storm;

import dev.sluice.benchmarks.Sizes;
import dev.sluice.benchmarks.storm.StormJob.WrittenShuffle;
import dev.sluice.testkit.Sums;
import java.math.BigDecimal;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.BiFunction;
import java.util.function.IntFunction;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.serializer.JavaSerializer;

/**
 * A shuffle of {@code maps} times {@code partitions} blocks. {@link StormCommand} or {@link
 * StormRunner#onNodes} chooses it, and {@link StormJob} gets it as JSON. Immutable. Its name is in
 * the names of rows, by which {@code goals.txt} finds them.
 *
 * @param blockBytes approximate size of a block before compression
 * @param cold true if every reduce stage has to read the map outputs from disk
 * @param newShuffles true if every repetition writes the shuffle that it reads
 */
record StormCase(
    Workload workload,
    int maps,
    int partitions,
    long blockBytes,
    boolean cold,
    boolean newShuffles) {
  static final StormCase SMALLEST = of(Workload.RDD_KRYO, 100, 100, 300);
  static final StormCase LARGEST = of(Workload.RDD_KRYO, 1000, 1000, 300);

  /** Cases of {@code bin/bench storm}. */
  static final List<StormCase> ALL =
      List.of(
          of(Workload.RDD_KRYO, 400, 400, 1000),
          of(Workload.RDD_JAVA, 400, 400, 1000),
          of(Workload.SQL_REPARTITION, 400, 400, 300),
          of(Workload.SQL_AGGREGATE, 400, 200, 1200),
          of(Workload.RDD_KRYO, 32, 32, 1 << 20),
          SMALLEST,
          LARGEST);

  static StormCase of(Workload workload, int maps, int partitions, long blockBytes) {
    return new StormCase(workload, maps, partitions, blockBytes, false, false);
  }

  /** Returns a name such as rdd-kryo-400x400-1KB. */
  String name() {
    return "%s-%dx%d-%s%s%s"
        .formatted(
            workload, maps, partitions, size(), cold ? "-cold" : "", newShuffles ? "-new" : "");
  }

  /** Returns text such as 0.2KB for 200 B, 1KB for 1,000 B, 1MiB for 1 MiB. */
  private String size() {
    return blockBytes % (1 << 20) == 0
        ? Sizes.binary(blockBytes)
        : BigDecimal.valueOf(blockBytes, 3).stripTrailingZeros().toPlainString() + "KB";
  }

  /** Returns the number of reduce tasks in all jobs of a repetition. */
  int reduceTasks() {
    return partitions * workload.jobs();
  }

  long blocks() {
    return (long) maps * partitions;
  }

  /** Returns the Spark configuration of the case. */
  Map<String, String> conf() {
    Map<String, String> conf = new HashMap<>(workload.conf());
    conf.put("spark.sql.shuffle.partitions", Integer.toString(partitions));
    return conf;
  }

  /**
   * A job that shuffles many small blocks. {@link StormCommand} chooses it by name. {@link
   * StormJob} prepares and repeats it on the main thread of the driver. Names of rows contain its
   * name, so a renamed constant loses its goals.
   */
  enum Workload {
    /**
     * Pairs of a number and bytes with Kryo, which {@code DriverProcess} sets. Spark does least
     * work per block with it.
     */
    RDD_KRYO(1, Map.of("spark.shuffle.compress", "false"), always(RddStorm::partitioned)),
    /** The same with Java's serializer, whose serialized streams cannot be concatenated. */
    RDD_JAVA(
        1,
        Map.of(
            "spark.shuffle.compress", "false", "spark.serializer", JavaSerializer.class.getName()),
        always(RddStorm::partitioned)),
    /**
     * Shuffles of the same cached pairs, one after the other, with Spark's default serializer and
     * compression; each shuffle is garbage after its job. {@code goals.txt} names their number.
     */
    RDD_ITERATIVE(
        60, Map.of("spark.serializer", JavaSerializer.class.getName()), RddStorm::iterations),
    /** Rows distributed round-robin; one reduce task per partition, whatever its size. */
    SQL_REPARTITION(
        1, Map.of("spark.sql.adaptive.enabled", "false"), always(SqlStorm::repartitioned)),
    /** Rows grouped by a key; AQE coalesces small partitions into few reduce tasks. */
    SQL_AGGREGATE(1, Map.of(), always(SqlStorm::aggregated));

    private final int jobs;
    private final Map<String, String> conf;
    private final BiFunction<JavaSparkContext, StormCase, IntFunction<JavaRDD<long[]>>> reductions;

    /**
     * @param jobs jobs of a repetition
     * @param reductions prepares the reduction of each job by its index
     */
    Workload(
        int jobs,
        Map<String, String> conf,
        BiFunction<JavaSparkContext, StormCase, IntFunction<JavaRDD<long[]>>> reductions) {
      this.jobs = jobs;
      this.conf = conf;
      this.reductions = reductions;
    }

    /** Returns the same reduction for each job, so that all read the shuffle of the first one. */
    private static BiFunction<JavaSparkContext, StormCase, IntFunction<JavaRDD<long[]>>> always(
        BiFunction<JavaSparkContext, StormCase, JavaRDD<long[]>> reduction) {
      return reduction.andThen(one -> _ -> one);
    }

    /** Returns the name for rows and for the command line. */
    @Override
    public String toString() {
      return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    /** Returns the Spark configuration of the workload. */
    Map<String, String> conf() {
      return conf;
    }

    /** Returns the number of jobs in each call of the {@link #prepare prepared} supplier. */
    int jobs() {
      return jobs;
    }

    /**
     * Prepares the job. The first call of the supplier writes and reads the map outputs. Each
     * further call only reads them. With {@link #RDD_ITERATIVE} each call writes and reads new
     * shuffles.
     */
    Supplier<Sums> prepare(JavaSparkContext spark, StormCase storm) {
      IntFunction<JavaRDD<long[]>> reduction = reductions.apply(spark, storm);
      return () ->
          IntStream.range(0, jobs)
              .mapToObj(job -> Sums.of(reduction.apply(job).collect()))
              .reduce((_, last) -> last)
              .orElseThrow();
    }

    /** Writes a new shuffle, which the caller reads and removes. Not for {@link #RDD_ITERATIVE}. */
    WrittenShuffle write(JavaSparkContext spark, StormCase storm) throws Exception {
      return WrittenShuffle.write(spark, reductions.apply(spark, storm).apply(0));
    }
  }
}
