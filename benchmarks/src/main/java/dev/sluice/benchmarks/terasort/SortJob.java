// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks.terasort;

import dev.sluice.testkit.Stages;
import dev.sluice.benchmarks.SluiceTotals;
import dev.sluice.testkit.AnsweringProcess;
import dev.sluice.testkit.Executors;
import dev.sluice.testkit.JsonFile;
import java.io.PrintStream;
import java.util.Arrays;
import java.util.Map;
import org.apache.hadoop.examples.terasort.TeraInputFormat;
import org.apache.hadoop.examples.terasort.TeraOutputFormat;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.Text;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.api.java.JavaSparkContext;
import scala.Tuple2;

/**
 * The driver of one sort. It is configured by system properties and writes its result to a file, on
 * its main thread. {@link TeraSortCommand} starts it and waits for its end; on a cluster,
 * spark-submit does.
 */
public final class SortJob {
  private SortJob() {}

  /**
   * @param arguments input and output (as Hadoop paths), number of reduce tasks, and the result
   *     file
   */
  public static void main(String[] arguments) throws Exception {
    PrintStream out = AnsweringProcess.claimOutput();
    Path input = new Path(arguments[0]);
    Path output = new Path(arguments[1]);
    int reducers = Integer.parseInt(arguments[2]);
    java.nio.file.Path result = java.nio.file.Path.of(arguments[3]);
    SparkConf conf = new SparkConf();
    try (JavaSparkContext spark = new JavaSparkContext(conf)) {
      KeyRanges ranges =
          KeyRanges.sample(
              spark.hadoopConfiguration(), input, reducers, output.suffix("-split-points"));
      Stages stages = new Stages();
      spark.sc().addSparkListener(stages);
      Executors.await(spark);
      Map<String, Double> cpu = Executors.cpuSeconds();
      long start = System.nanoTime();
      sort(spark, input, output, ranges);
      double seconds = (System.nanoTime() - start) / 1e9;
      double cpuSeconds = Executors.usedSince(cpu);
      stages.await();
      long remoteBytes = stages.remoteBytes();
      SluiceTotals totals = SluiceTotals.await(conf, remoteBytes);
      JsonFile.write(result, new SortResult(seconds, cpuSeconds, remoteBytes, totals));
    }
    out.println("sorted");
  }

  private static void sort(JavaSparkContext spark, Path input, Path output, KeyRanges ranges) {
    JavaPairRDD<Text, Text> records =
        spark.newAPIHadoopFile(
            input.toString(),
            TeraInputFormat.class,
            Text.class,
            Text.class,
            spark.hadoopConfiguration());
    records
        .mapToPair(record -> new Tuple2<>(bytes(record._1()), bytes(record._2())))
        .repartitionAndSortWithinPartitions(ranges, KeyRanges.ORDER)
        .mapToPair(record -> new Tuple2<>(new Text(record._1()), new Text(record._2())))
        .saveAsNewAPIHadoopFile(output.toString(), Text.class, Text.class, TeraOutputFormat.class);
  }

  /** Copies the bytes, since the reader of TeraInputFormat reuses its Text objects. */
  private static byte[] bytes(Text text) {
    return Arrays.copyOf(text.getBytes(), text.getLength());
  }

  /**
   * Result of one sort in a driver process ({@link SortJob}), which sends it to the command in a
   * file of JSON.
   *
   * @param seconds time from the start of the job to the committed output
   * @param cpuSeconds CPU time of the executor processes meanwhile, user and system; 0 on a
   *     cluster, where they are not children of the driver
   * @param remoteBytes sum of Spark's remoteBytesRead over all tasks
   * @param totals Sluice's counters
   */
  record SortResult(double seconds, double cpuSeconds, long remoteBytes, SluiceTotals totals) {}
}
