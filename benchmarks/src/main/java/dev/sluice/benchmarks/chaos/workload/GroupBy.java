package dev.sluice.benchmarks.chaos.workload;

import java.util.Iterator;
import java.util.List;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.sql.SparkSession;
import scala.Tuple2;

/** groupByKey: the values of a key meet in one task. */
final class GroupBy implements Workload {
  @Override
  public String name() {
    return "group-by";
  }

  @Override
  public Answer run(SparkSession spark, long seed) {
    return of(
        Records.of(JavaSparkContext.fromSparkContext(spark.sparkContext()), seed),
        Records.PARTITIONS);
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
