package dev.sluice.benchmarks.chaos.workload;

import java.util.Iterator;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.sql.SparkSession;
import scala.Tuple2;

/** sortByKey, with a look at the order within every task. */
final class SortByKey implements Workload {
  @Override
  public String name() {
    return "sort-by-key";
  }

  @Override
  public Answer run(SparkSession spark, long seed) {
    return Answer.of(
        Records.of(JavaSparkContext.fromSparkContext(spark.sparkContext()), seed)
            .sortByKey(true, Records.PARTITIONS),
        SortByKey::sum);
  }

  private static Answer sum(Iterator<Tuple2<Integer, byte[]>> records) {
    Answer sum = Answer.NOTHING;
    int last = Integer.MIN_VALUE;
    while (records.hasNext()) {
      Tuple2<Integer, byte[]> record = records.next();
      if (record._1() < last) {
        throw new IllegalStateException("key " + record._1() + " comes after " + last);
      }
      last = record._1();
      sum = sum.plus(Records.hash(record));
    }
    return sum;
  }
}
