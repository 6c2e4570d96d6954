package dev.sluice.benchmarks.chaos.workload;

import java.io.Serializable;
import org.apache.spark.BarrierTaskContext;
import org.apache.spark.HashPartitioner;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.SparkSession;
import scala.Function1;
import scala.Tuple2;
import scala.collection.Iterator;
import scala.reflect.ClassTag;

/**
 * A barrier stage reads the shuffle: its tasks run together, and again together when one fails. It
 * writes another one: as the last stage of its job Spark would not repeat it.
 */
final class Barrier implements Workload {
  /** Not more than there are slots when one executor of three is gone. */
  private static final int TASKS = 4;

  /** A function of Scala's that can be sent to executors. */
  private interface PartitionFunction<T, R>
      extends Function1<Iterator<T>, Iterator<R>>, Serializable {}

  @Override
  public String name() {
    return "barrier";
  }

  @Override
  public int shuffles() {
    return 2;
  }

  @Override
  public int retrySeconds() {
    return BARRIER_SYNC_SECONDS;
  }

  @Override
  public Answer run(SparkSession spark, long seed) {
    JavaSparkContext context = JavaSparkContext.fromSparkContext(spark.sparkContext());
    RDD<Tuple2<Integer, byte[]>> moved =
        Records.of(context, seed).partitionBy(new HashPartitioner(TASKS)).rdd();
    PartitionFunction<Tuple2<Integer, byte[]>, Tuple2<Integer, byte[]>> meet = Barrier::meet;
    ClassTag<Tuple2<Integer, byte[]>> tag = moved.elementClassTag();
    JavaPairRDD<Integer, byte[]> met =
        JavaRDD.fromRDD(moved.barrier().mapPartitions(meet, false, tag), tag).mapToPair(it -> it);
    return Answer.ofEach(met.partitionBy(new HashPartitioner(Records.PARTITIONS)), Records::hash);
  }

  private static <T> Iterator<T> meet(Iterator<T> records) {
    BarrierTaskContext.get().barrier();
    return records;
  }
}
