// SPDX-License-Identifier: Apache-2.0
package dev.sluice.mapreduce;

import java.io.IOException;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.LocalDirAllocator;
import org.apache.hadoop.io.compress.CompressionCodec;
import org.apache.hadoop.mapred.Counters;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.MROutputFiles;
import org.apache.hadoop.mapred.ReduceTask;
import org.apache.hadoop.mapred.Reporter;
import org.apache.hadoop.mapred.ShuffleConsumerPlugin;
import org.apache.hadoop.mapred.TaskUmbilicalProtocol;
import org.apache.hadoop.mapreduce.MRConfig;
import org.apache.hadoop.util.Progress;
import org.jspecify.annotations.Nullable;

/** Makes the context of a shuffle, for tests: no combiner, and no local map files. */
final class ReduceContext {
  private ReduceContext() {}

  /**
   * @param codec of the map outputs; null if they are not compressed
   * @param failedFetches counts failed fetches by HTTP
   */
  static <K, V> ShuffleConsumerPlugin.Context<K, V> of(
      ReduceTask task,
      JobConf conf,
      @Nullable TaskUmbilicalProtocol umbilical,
      Reporter reporter,
      @Nullable CompressionCodec codec,
      Counters.Counter failedFetches)
      throws IOException {
    MROutputFiles files = new MROutputFiles();
    files.setConf(conf);
    return new ShuffleConsumerPlugin.Context<>(
        task.getTaskID(),
        conf,
        FileSystem.getLocal(conf),
        umbilical,
        new LocalDirAllocator(MRConfig.LOCAL_DIR),
        reporter,
        codec,
        null,
        null,
        new Counters.Counter(),
        new Counters.Counter(),
        new Counters.Counter(),
        new Counters.Counter(),
        failedFetches,
        new Counters.Counter(),
        new ReduceStatus(),
        new Progress(),
        new Progress(),
        task,
        files,
        null);
  }
}
