// SPDX-License-Identifier: Apache-2.0
package dev.sluice.benchmarks.mapreduce;

import dev.sluice.testkit.Directories;
import dev.sluice.testkit.hadoop.ShuffleNodes;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.function.IntFunction;
import org.apache.hadoop.io.BytesWritable;
import org.apache.hadoop.io.compress.SnappyCodec;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.MapOutputCollector;
import org.apache.hadoop.mapred.MapTask;
import org.apache.hadoop.mapred.TaskAttemptID;
import org.apache.hadoop.mapreduce.MRConfig;
import org.apache.hadoop.mapreduce.MRJobConfig;
import org.apache.hadoop.util.Progress;

/**
 * Map outputs of one job, which MapReduce's own collector writes. Records are as TeraSort's: a key
 * of 10 bytes and a value of 90. Half of the value is random. {@link CopyCommand} makes it and
 * writes them on its thread. Immutable.
 *
 * @param maps number of map outputs
 * @param reducers number of their partitions
 * @param partitionBytes bytes of a partition's records, without compression
 */
record MapOutputs(int maps, int reducers, int partitionBytes, boolean compressed) {
  /** Hadoop's limit of the collector's buffer, in MiB. */
  private static final long MAX_SORT_MB = 2047;

  private static final int KEY_BYTES = 10;
  private static final int VALUE_BYTES = 90;
  private static final int RANDOM_BYTES = VALUE_BYTES / 2;

  /**
   * Map outputs with records of their own. The others are copies of their files, so that reading
   * one copy for another is not noticed.
   */
  private static final int DIFFERENT = 10;

  /** Returns the number of records of all partitions. */
  long records() {
    return (long) maps * reducers * recordsOfPartition();
  }

  private int recordsOfPartition() {
    return Math.max(1, partitionBytes / (KEY_BYTES + VALUE_BYTES));
  }

  /** Adds the settings by which map tasks write, and reduce tasks read. */
  void configure(JobConf conf) {
    conf.setMapOutputKeyClass(BytesWritable.class);
    conf.setMapOutputValueClass(BytesWritable.class);
    conf.setNumMapTasks(maps);
    conf.setNumReduceTasks(reducers);
    if (compressed) {
      conf.setMapOutputCompressorClass(SnappyCodec.class); // switches compression on
    }
  }

  /**
   * Writes all map outputs.
   *
   * @param folder folder of a map output, which does not exist
   * @param scratch directory for files meanwhile, which does not exist
   */
  void write(IntFunction<Path> folder, Path scratch) throws Exception {
    for (int map = 0; map < maps; map++) {
      if (map < DIFFERENT) {
        collect(map, scratch);
        copy(scratch.resolve("output"), folder.apply(map));
        Directories.delete(scratch);
      } else {
        copy(folder.apply(map % DIFFERENT), folder.apply(map));
      }
    }
  }

  private static void copy(Path source, Path target) throws IOException {
    Files.createDirectories(target);
    for (String file : List.of("file.out", "file.out.index")) {
      Files.copy(source.resolve(file), target.resolve(file));
    }
  }

  private void collect(int map, Path scratch) throws Exception {
    JobConf conf = new JobConf();
    configure(conf);
    conf.set(MRConfig.LOCAL_DIR, Files.createDirectories(scratch).toString());
    conf.setInt(MRJobConfig.IO_SORT_MB, sortMb());
    MapTask task = new OneTask(map);
    task.setConf(conf);
    MapTask.MapOutputBuffer<BytesWritable, BytesWritable> collector =
        new MapTask.MapOutputBuffer<>();
    collector.init(
        new MapOutputCollector.Context(
            task, conf, task.new TaskReporter(task.getProgress(), new Umbilical().protocol())));
    collectRecords(map, collector);
    collector.flush();
    collector.close();
  }

  /**
   * Buffer with room for all records and their metadata if Hadoop allows it: one spill, no merge.
   */
  private int sortMb() {
    return Math.toIntExact(Math.min(MAX_SORT_MB, 1 + (2L * reducers * partitionBytes >> 20)));
  }

  private void collectRecords(
      int map, MapTask.MapOutputBuffer<BytesWritable, BytesWritable> collector) throws IOException {
    Random random = new Random(map);
    byte[] key = new byte[KEY_BYTES];
    ByteBuffer value = ByteBuffer.allocate(VALUE_BYTES);
    byte[] half = new byte[RANDOM_BYTES];
    for (int i = 0; i < recordsOfPartition(); i++) {
      for (int partition = 0; partition < reducers; partition++) {
        random.nextBytes(key);
        random.nextBytes(half);
        value.clear().put(half);
        collector.collect(new BytesWritable(key), new BytesWritable(value.array()), partition);
      }
    }
  }

  /** A map task outside of its runner. */
  private static final class OneTask extends MapTask {
    private final Progress sortPhase = new Progress();

    OneTask(int map) {
      super("", TaskAttemptID.forName(ShuffleNodes.MAP_ATTEMPT.formatted(map)), map, null, 1);
    }

    @Override
    public Progress getSortPhase() {
      return sortPhase;
    }
  }
}
