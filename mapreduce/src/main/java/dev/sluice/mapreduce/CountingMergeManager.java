// SPDX-License-Identifier: Apache-2.0
package dev.sluice.mapreduce;

import java.io.IOException;
import org.apache.hadoop.mapred.RawKeyValueIterator;
import org.apache.hadoop.mapreduce.TaskAttemptID;
import org.apache.hadoop.mapreduce.task.reduce.MapOutput;
import org.apache.hadoop.mapreduce.task.reduce.MergeManager;
import org.jspecify.annotations.Nullable;

/**
 * Hadoop's merger as Hadoop's own fetcher sees it: map outputs that come by HTTP are counted with
 * the reasons for which they were not READ. {@link RdmaFetcher} makes it; any thread.
 */
final class CountingMergeManager<K, V> implements MergeManager<K, V> {
  private final MergeManager<K, V> merger;
  private final HttpOutputs byHttp;
  private final ShuffleCounters counters;

  CountingMergeManager(MergeManager<K, V> merger, HttpOutputs byHttp, ShuffleCounters counters) {
    this.merger = merger;
    this.byHttp = byHttp;
    this.counters = counters;
  }

  @Override
  public void waitForResource() throws InterruptedException {
    merger.waitForResource();
  }

  @Override
  public @Nullable MapOutput<K, V> reserve(TaskAttemptID output, long bytes, int fetcher)
      throws IOException {
    MapOutput<K, V> reserved = merger.reserve(output, bytes, fetcher);
    return reserved == null ? null : new CountedOutput<>(reserved, byHttp.reason(output), counters);
  }

  @Override
  public RawKeyValueIterator close() throws Throwable {
    return merger.close();
  }
}
