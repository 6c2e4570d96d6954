// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.fetch;

import dev.sluice.spark.metrics.ShuffleCounters;
import java.util.concurrent.TimeUnit;
import org.apache.spark.shuffle.ShuffleReadMetricsReporter;

/**
 * Counts a reader's batch fetches in Spark's metrics of its task and in the executor's counters.
 * {@link RdmaBlockFetcherIterator} calls it on the reader's thread. {@link RemoteBatches} calls
 * {@link #arrived} for batches that no thread polls, on the thread that ends the task.
 */
public record BatchFetchMetrics(ShuffleReadMetricsReporter task, ShuffleCounters counters) {
  /** Counts a batch that has arrived, also if no thread reads it. */
  public void arrived(FetchedBatch batch) {
    int blocks = batch.blocks();
    counters.gathered(blocks);
    if (batch.group().isLocal()) {
      task.incLocalBlocksFetched(blocks);
      task.incLocalBytesRead(batch.bytes());
    } else {
      counters.read(blocks, batch.bytes());
      counters.staged(batch.way().stagedBytes());
      task.incRemoteBlocksFetched(blocks);
      task.incRemoteBytesRead(batch.bytes());
      task.incRemoteReqsDuration(TimeUnit.NANOSECONDS.toMillis(batch.way().requestNanos()));
    }
  }

  void waited(long nanos) {
    task.incFetchWaitTime(TimeUnit.NANOSECONDS.toMillis(nanos));
  }
}
