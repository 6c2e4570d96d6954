// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks.storm;

import dev.sluice.testkit.Sums;
import java.util.Locale;
import java.util.Map;
import java.util.function.BiFunction;
import java.util.function.Supplier;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.serializer.JavaSerializer;

/**
 * A job that shuffles many small blocks. The command chooses it by name; {@link StormJob} prepares
 * and repeats it on the main thread of its driver. Names of rows contain its name.
 */
enum Workload {
  /** Pairs of a number and bytes with Kryo, with which Spark does least work per block. */
  RDD_KRYO(Map.of("spark.shuffle.compress", "false"), RddStorm::prepare),
  /** The same with Java's serializer, whose serialized streams cannot be concatenated. */
  RDD_JAVA(
      Map.of("spark.shuffle.compress", "false", "spark.serializer", JavaSerializer.class.getName()),
      RddStorm::prepare),
  /**
   * Sixty shuffles of the same cached pairs, one after the other, with Spark's default serializer
   * and compression; each shuffle is garbage after its job.
   */
  RDD_ITERATIVE(
      Map.of("spark.serializer", JavaSerializer.class.getName()), RddStorm::prepareIterative),
  /** Rows distributed round-robin; one reduce task per partition, whatever its size. */
  SQL_REPARTITION(Map.of("spark.sql.adaptive.enabled", "false"), SqlStorm::prepareRepartition),
  /** Rows grouped by a key; AQE coalesces small partitions into few reduce tasks. */
  SQL_AGGREGATE(Map.of(), SqlStorm::prepareAggregate);

  private final Map<String, String> conf;
  private final BiFunction<JavaSparkContext, StormCase, Supplier<Sums>> preparation;

  Workload(
      Map<String, String> conf,
      BiFunction<JavaSparkContext, StormCase, Supplier<Sums>> preparation) {
    this.conf = conf;
    this.preparation = preparation;
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
    return this == RDD_ITERATIVE ? RddStorm.ITERATIONS : 1;
  }

  /**
   * Prepares the job. The first call of the supplier writes and reads the map outputs; each further
   * call only reads them.
   */
  Supplier<Sums> prepare(JavaSparkContext spark, StormCase storm) {
    return preparation.apply(spark, storm);
  }
}
