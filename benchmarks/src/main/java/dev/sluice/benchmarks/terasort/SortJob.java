// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks.terasort;

import dev.sluice.benchmarks.SluiceTotals;
import dev.sluice.testkit.DriverProcess;
import dev.sluice.testkit.ExecutorProcess;
import dev.sluice.testkit.Executors;
import dev.sluice.testkit.Executors.Effort;
import dev.sluice.testkit.Stages;
import java.io.IOException;
import java.util.Arrays;
import java.util.Comparator;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.examples.terasort.TeraInputFormat;
import org.apache.hadoop.examples.terasort.TeraOutputFormat;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapreduce.Job;
import org.apache.spark.Partitioner;
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
    Path input = new Path(arguments[0]);
    Path output = new Path(arguments[1]);
    int reducers = Integer.parseInt(arguments[2]);
    DriverProcess.measure(
        arguments[3], (spark, stages) -> sort(spark, stages, input, output, reducers));
  }

  private static SortResult sort(
      JavaSparkContext spark, Stages stages, Path input, Path output, int reducers)
      throws Exception {
    Path splitPoints = output.suffix("-split-points");
    KeyRanges ranges = KeyRanges.sample(spark.hadoopConfiguration(), input, reducers, splitPoints);
    Effort effort =
        Executors.measure(
                () -> {
                  sort(spark, input, output, ranges);
                  return null;
                })
            .effort();
    stages.await();
    SluiceTotals totals = SluiceTotals.await(spark.getConf(), stages);
    return new SortResult(effort.seconds(), effort.allCpuSeconds(), peakBytes(), totals);
  }

  /** Returns the most memory that this process has had resident. */
  static long peakBytes() {
    return ExecutorProcess.driver().peakResidentKib() << 10;
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
   * @param driverBytes the most memory that the driver had resident
   * @param totals Sluice's counters
   */
  record SortResult(double seconds, double cpuSeconds, long driverBytes, SluiceTotals totals) {}

  /**
   * TeraSort's range partitioner. Its split points are sampled from the input; keys are compared as
   * unsigned bytes. {@link SortJob} creates it in the driver; Spark serializes it for every map
   * task. It is immutable.
   */
  static final class KeyRanges extends Partitioner {
    private static final long serialVersionUID = 1L;

    /** Order of the keys. */
    static final Comparator<byte[]> ORDER =
        (Comparator<byte[]> & java.io.Serializable) Arrays::compareUnsigned;

    private final byte[][] splitPoints;

    /**
     * @param splitPoints first key of every partition except the first
     * @throws IllegalArgumentException if they do not ascend
     */
    KeyRanges(byte[][] splitPoints) {
      for (int i = 1; i < splitPoints.length; i++) {
        if (ORDER.compare(splitPoints[i - 1], splitPoints[i]) > 0) {
          throw new IllegalArgumentException(
              "split point " + i + " is less than the one before it");
        }
      }
      this.splitPoints = splitPoints;
    }

    /**
     * Lets TeraSort's sampler choose the split points.
     *
     * @param temporary file for them, which is deleted
     */
    static KeyRanges sample(Configuration conf, Path input, int partitions, Path temporary)
        throws IOException {
      Job job = Job.getInstance(conf);
      job.setNumReduceTasks(partitions);
      TeraInputFormat.setInputPaths(job, input);
      try {
        TeraInputFormat.writePartitionFile(job, temporary);
      } catch (IOException | RuntimeException | Error e) {
        throw e;
      } catch (Throwable e) {
        throw new IOException("sampling the input " + input + " failed", e);
      }
      FileSystem files = temporary.getFileSystem(conf);
      byte[][] splitPoints = new byte[partitions - 1][];
      try (FSDataInputStream in = files.open(temporary)) {
        Text key = new Text();
        for (int i = 0; i < splitPoints.length; i++) {
          key.readFields(in);
          splitPoints[i] = key.copyBytes();
        }
      }
      files.delete(temporary, false);
      return new KeyRanges(splitPoints);
    }

    @Override
    public int numPartitions() {
      return splitPoints.length + 1;
    }

    @Override
    public int getPartition(Object key) {
      int found = Arrays.binarySearch(splitPoints, (byte[]) key, ORDER);
      return found < 0 ? -found - 1 : found + 1;
    }
  }
}
