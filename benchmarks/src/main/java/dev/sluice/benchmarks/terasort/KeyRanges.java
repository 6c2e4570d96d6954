// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks.terasort;

import java.io.IOException;
import java.util.Arrays;
import java.util.Comparator;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.examples.terasort.TeraInputFormat;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapreduce.Job;
import org.apache.spark.Partitioner;

/**
 * TeraSort's range partitioner. Its split points are sampled from the input; keys are compared as
 * unsigned bytes. {@link SortJob} creates it in the driver; Spark serializes it for every map task.
 * It is immutable.
 */
final class KeyRanges extends Partitioner {
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
        throw new IllegalArgumentException("split point " + i + " is less than the one before it");
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
