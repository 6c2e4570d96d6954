// SPDX-License-Identifier: Apache-2.0
package dev.sluice.cluster.mapreduce;

import dev.sluice.mapreduce.RdmaShuffle;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapred.RawKeyValueIterator;
import org.apache.hadoop.mapred.ShuffleConsumerPlugin;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.MRConfig;

/** Holds up a job's first reduce task before its first READ until the test opens it. */
final class LateReduce {
  private static final String FILE = "late.reduce.file";

  private final Path file;

  LateReduce(Job job, Path directory) throws Exception {
    file = directory.resolve("late-reduce");
    Configuration conf = job.getConfiguration();
    conf.set(FILE, file.toString());
    Gate.addOwnClasses(conf);
    conf.setClass(MRConfig.SHUFFLE_CONSUMER_PLUGIN, LateShuffle.class, ShuffleConsumerPlugin.class);
  }

  void open() throws IOException {
    Files.createFile(file);
  }

  /** Sluice's plug-in, which waits before it copies. */
  public static final class LateShuffle<K, V> implements ShuffleConsumerPlugin<K, V> {
    private final RdmaShuffle<K, V> shuffle = new RdmaShuffle<>();
    private Context<K, V> task;

    @Override
    public void init(Context<K, V> context) {
      task = context;
      shuffle.init(context);
    }

    @Override
    public RawKeyValueIterator run() throws IOException, InterruptedException {
      if (task.getReduceId().getTaskID().getId() == 0) {
        Gate.await(Path.of(task.getJobConf().get(FILE)), task.getReporter());
      }
      return shuffle.run();
    }

    @Override
    public void close() {
      shuffle.close();
    }
  }
}
