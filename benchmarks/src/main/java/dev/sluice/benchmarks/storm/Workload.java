package dev.sluice.benchmarks.storm;

import java.util.Locale;
import java.util.Map;
import java.util.function.Supplier;
import org.apache.spark.api.java.JavaSparkContext;

/** A job that shuffles many small blocks. */
enum Workload {
  /** Pairs of a number and bytes, with the Kryo serializer: Spark's work per block is least. */
  RDD_KRYO(false, Map.of(), RddStorm::prepare),
  /** The same with Java's serializer, whose streams cannot be read one after the other. */
  RDD_JAVA(
      false,
      Map.of("spark.serializer", "org.apache.spark.serializer.JavaSerializer"),
      RddStorm::prepare),
  /** Sixty shuffles of the same cached pairs, one after the other: each is dead after its job. */
  RDD_ITERATIVE(false, Map.of(), RddStorm::prepareIterative),
  /** Rows, moved round robin; one reduce task a partition, whatever its size. */
  SQL_REPARTITION(
      true, Map.of("spark.sql.adaptive.enabled", "false"), SqlStorm::prepareRepartition),
  /** Rows, grouped by a key; small partitions are laid together for few reduce tasks. */
  SQL_AGGREGATE(true, Map.of(), SqlStorm::prepareAggregate);

  private final boolean compressed;
  private final Map<String, String> conf;
  private final Preparation preparation;

  /** Sets a job up, whose reduce stage the supplier then runs as often as it is asked. */
  private interface Preparation {
    Supplier<Sums> prepare(JavaSparkContext spark, StormCase storm);
  }

  Workload(boolean compressed, Map<String, String> conf, Preparation preparation) {
    this.compressed = compressed;
    this.conf = conf;
    this.preparation = preparation;
  }

  /** As in names of figures and on the command line. */
  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  /** Whether spark.shuffle.compress is on where nothing else is said. */
  boolean compressed() {
    return compressed;
  }

  /** Spark configuration that makes the workload what it is. */
  Map<String, String> conf() {
    return conf;
  }

  /**
   * The first call of what is returned writes the map outputs and reads them; every further one
   * only reads them.
   */
  Supplier<Sums> prepare(JavaSparkContext spark, StormCase storm) {
    return preparation.prepare(spark, storm);
  }
}
