package dev.sluice.benchmarks.publish;

import dev.sluice.benchmarks.CompletedStages;
import dev.sluice.benchmarks.Executors;
import dev.sluice.benchmarks.JsonFile;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.HashPartitioner;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaSparkContext;
import scala.Tuple2;

/**
 * The driver process of one measurement: a shuffle of many small map outputs, several times; what
 * counts is the map stage. Started and ended by {@link PublishCommand}.
 */
final class PublishJob {
  private static final int RECORDS = 100;

  private PublishJob() {}

  /**
   * @param arguments map tasks, reduce partitions, repetitions, result file
   */
  public static void main(String[] arguments) throws Exception {
    int maps = Integer.parseInt(arguments[0]);
    int partitions = Integer.parseInt(arguments[1]);
    int repetitions = Integer.parseInt(arguments[2]);
    Path result = Path.of(arguments[3]);
    SparkConf conf = new SparkConf();
    try (JavaSparkContext spark = new JavaSparkContext(conf)) {
      CompletedStages stages = CompletedStages.writing();
      spark.sc().addSparkListener(stages);
      Executors.await(spark);
      double[] seconds = new double[repetitions];
      for (int i = 0; i < repetitions; i++) {
        shuffle(spark, maps, partitions);
        seconds[i] = CompletedStages.wallSeconds(stages.await());
      }
      JsonFile.write(result, seconds);
    }
  }

  private static void shuffle(JavaSparkContext spark, int maps, int partitions) {
    List<Integer> tasks = new ArrayList<>();
    for (int i = 0; i < maps; i++) {
      tasks.add(i);
    }
    spark
        .parallelize(tasks, maps)
        .flatMapToPair(task -> records(task).iterator())
        .partitionBy(new HashPartitioner(partitions))
        .foreachPartition(records -> {});
  }

  private static List<Tuple2<Integer, byte[]>> records(int task) {
    List<Tuple2<Integer, byte[]>> records = new ArrayList<>();
    for (int i = 0; i < RECORDS; i++) {
      records.add(new Tuple2<>(task + i, new byte[100]));
    }
    return records;
  }
}
