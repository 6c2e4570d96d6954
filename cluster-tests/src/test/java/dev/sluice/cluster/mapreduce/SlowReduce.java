// SPDX-License-Identifier: Apache-2.0
package dev.sluice.cluster.mapreduce;

import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.io.compress.CompressionInputStream;
import org.apache.hadoop.io.compress.Decompressor;
import org.apache.hadoop.io.compress.DefaultCodec;
import org.apache.hadoop.io.compress.zlib.ZlibCompressor.CompressionLevel;
import org.apache.hadoop.io.compress.zlib.ZlibFactory;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.MRJobConfig;
import org.apache.hadoop.mapreduce.TaskAttemptID;
import org.apache.hadoop.mapreduce.TaskType;

/**
 * Holds up each attempt of a job's first reduce task in the middle of its READs until the test
 * opens it: the codec of the map outputs waits. It compresses nothing, so that map outputs are as
 * large as their records.
 */
final class SlowReduce {
  private static final String FOLDER = "slow.reduce.folder";

  private static final String OPEN = "open";

  private final Path folder;

  SlowReduce(Job job, Path directory) throws Exception {
    folder = Files.createDirectories(directory.resolve("slow-reduce"));
    Configuration conf = job.getConfiguration();
    conf.set(FOLDER, folder.toString());
    Gate.addOwnClasses(conf);
    conf.setBoolean(MRJobConfig.MAP_OUTPUT_COMPRESS, true);
    conf.setClass(MRJobConfig.MAP_OUTPUT_COMPRESS_CODEC, GatedCodec.class, DefaultCodec.class);
    ZlibFactory.setCompressionLevel(conf, CompressionLevel.NO_COMPRESSION);
  }

  /** Returns the number of attempts that wait, or have waited. */
  long waiting() throws IOException {
    try (Stream<Path> attempts = Files.list(folder)) {
      return attempts.filter(file -> !file.endsWith(OPEN)).count();
    }
  }

  void open() throws IOException {
    Files.createFile(folder.resolve(OPEN));
  }

  /** Codec that waits before it decompresses a map output. */
  public static final class GatedCodec extends DefaultCodec {
    @Override
    public CompressionInputStream createInputStream(InputStream in, Decompressor decompressor)
        throws IOException {
      Configuration conf = getConf();
      TaskAttemptID attempt = TaskAttemptID.forName(conf.get(MRJobConfig.TASK_ATTEMPT_ID));
      if (attempt.getTaskType() == TaskType.REDUCE && attempt.getTaskID().getId() == 0) {
        await(Path.of(conf.get(FOLDER)), attempt.toString());
      }
      return super.createInputStream(in, decompressor);
    }

    private static void await(Path folder, String attempt) throws IOException {
      Files.writeString(folder.resolve(attempt), "");
      try {
        Gate.await(folder.resolve(OPEN), () -> {});
      } catch (InterruptedException e) {
        throw new InterruptedIOException(e.getMessage());
      }
    }
  }
}
