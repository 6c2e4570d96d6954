package dev.sluice.benchmarks.chaos.workload;

import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.sql.SparkSession;
import scala.Tuple2;

/**
 * groupByKey: the values of a key meet in one task.
 *
 * @param partitions with 300 most of 3,600 blocks have about two kilobytes
 */
record GroupBy(String name, int partitions, Map<String, String> settings) implements Workload {
  @Override
  public Answer run(SparkSession spark, long seed) {
    JavaSparkContext context = JavaSparkContext.fromSparkContext(spark.sparkContext());
    return of(Records.of(context, seed), partitions);
  }

  static Answer of(JavaPairRDD<Integer, byte[]> records, int partitions) {
    return Answer.of(records.groupByKey(partitions), GroupBy::sum);
  }

  private static Answer sum(Iterator<Tuple2<Integer, Iterable<byte[]>>> groups) {
    Answer sum = Answer.NOTHING;
    while (groups.hasNext()) {
      Tuple2<Integer, Iterable<byte[]>> group = groups.next();
      sum = sum.plus(Records.hashOfGroup(group._1(), List.of(group._2())));
    }
    return sum;
  }
}
