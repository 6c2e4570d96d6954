package dev.sluice.benchmarks.storm;

import java.util.Locale;
import java.util.Map;
import java.util.function.BiFunction;
import java.util.function.Supplier;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.serializer.JavaSerializer;

/** A job that shuffles many small blocks. */
enum Workload {
  /** Pairs of a number and bytes, with the Kryo serializer: Spark's work per block is least. */
  RDD_KRYO(Map.of("spark.shuffle.compress", "false"), RddStorm::prepare),
  /** The same with Java's serializer, whose streams cannot be read one after the other. */
  RDD_JAVA(
      Map.of("spark.shuffle.compress", "false", "spark.serializer", JavaSerializer.class.getName()),
      RddStorm::prepare),
  /**
   * Sixty shuffles of the same cached pairs, one after the other, with Spark's own serializer and
   * compression: each is dead after its job.
   */
  RDD_ITERATIVE(
      Map.of("spark.serializer", JavaSerializer.class.getName()), RddStorm::prepareIterative),
  /** Rows, moved round robin; one reduce task a partition, whatever its size. */
  SQL_REPARTITION(Map.of("spark.sql.adaptive.enabled", "false"), SqlStorm::prepareRepartition),
  /** Rows, grouped by a key; small partitions are laid together for few reduce tasks. */
  SQL_AGGREGATE(Map.of(), SqlStorm::prepareAggregate);

  private final Map<String, String> conf;
  private final BiFunction<JavaSparkContext, StormCase, Supplier<Sums>> preparation;

  Workload(
      Map<String, String> conf,
      BiFunction<JavaSparkContext, StormCase, Supplier<Sums>> preparation) {
    this.conf = conf;
    this.preparation = preparation;
  }

  /** As in names of figures and on the command line. */
  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  /** Spark configuration that makes the workload what it is. */
  Map<String, String> conf() {
    return conf;
  }

  /** Of each call of what is {@link #prepare prepared}, one after the other. */
  int jobs() {
    return this == RDD_ITERATIVE ? RddStorm.ITERATIONS : 1;
  }

  /**
   * The first call of what is returned writes the map outputs and reads them; every further one
   * only reads them.
   */
  Supplier<Sums> prepare(JavaSparkContext spark, StormCase storm) {
    return preparation.apply(spark, storm);
  }
}
