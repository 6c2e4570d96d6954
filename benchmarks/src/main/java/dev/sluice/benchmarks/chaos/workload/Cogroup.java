package dev.sluice.benchmarks.chaos.workload;

import java.util.Iterator;
import java.util.List;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.sql.SparkSession;
import scala.Tuple2;
import scala.Tuple3;

/** A cogroup of three: a task has the readers of three shuffles open at the same time. */
final class Cogroup implements Workload {
  @Override
  public String name() {
    return "cogroup";
  }

  @Override
  public int shuffles() {
    return 3;
  }

  @Override
  public Answer run(SparkSession spark, long seed) {
    JavaSparkContext context = JavaSparkContext.fromSparkContext(spark.sparkContext());
    return Answer.of(
        Records.of(context, seed)
            .cogroup(
                Records.of(context, seed + 1_000),
                Records.of(context, seed + 2_000),
                Records.PARTITIONS),
        Cogroup::sum);
  }

  private static Answer sum(
      Iterator<Tuple2<Integer, Tuple3<Iterable<byte[]>, Iterable<byte[]>, Iterable<byte[]>>>>
          groups) {
    Answer sum = Answer.NOTHING;
    while (groups.hasNext()) {
      var group = groups.next();
      var three = group._2();
      sum = sum.plus(Records.hashOfGroup(group._1(), List.of(three._1(), three._2(), three._3())));
    }
    return sum;
  }
}
