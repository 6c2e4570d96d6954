// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.fetch;

import dev.sluice.spark.metrics.ShuffleCounter;
import dev.sluice.spark.metrics.ShuffleCounters;
import java.util.concurrent.TimeUnit;
import org.apache.spark.shuffle.ShuffleReadMetricsReporter;

/**
 * Metrics of one reader. Passes those of Spark's iterators on to Spark's metrics of the task, and
 * counts batch fetches there. Also counts batches, and local blocks and bytes, of this executor and
 * of its host, in the executor's counters. {@code RdmaShuffleReader} makes it. Called on the
 * reader's thread. {@link RemoteBatches} calls {@link #arrived} for batches that no thread polls,
 * on the thread that ends the task.
 */
public record CountingReadMetrics(ShuffleReadMetricsReporter task, ShuffleCounters counters)
    implements ShuffleReadMetricsReporter {

  /** Counts a batch that has arrived, also if no thread reads it. */
  public void arrived(FetchedBatch batch) {
    int blocks = batch.blocks();
    counters.add(ShuffleCounter.GATHERED_BLOCKS, blocks);
    if (batch.group().isLocal()) {
      incLocalBlocksFetched(blocks);
      incLocalBytesRead(batch.bytes());
    } else {
      counters.read(blocks, batch.bytes());
      counters.add(ShuffleCounter.STAGED_BYTES, batch.way().stagedBytes());
      task.incRemoteBlocksFetched(blocks);
      task.incRemoteBytesRead(batch.bytes());
      task.incRemoteReqsDuration(TimeUnit.NANOSECONDS.toMillis(batch.way().requestNanos()));
    }
  }

  /** Counts time that the reader has waited for batches. */
  void waited(long nanos) {
    task.incFetchWaitTime(TimeUnit.NANOSECONDS.toMillis(nanos));
  }

  @Override
  public void incLocalBlocksFetched(long blocks) {
    counters.add(ShuffleCounter.LOCAL_BLOCKS, blocks);
    task.incLocalBlocksFetched(blocks);
  }

  @Override
  public void incLocalBytesRead(long bytes) {
    counters.add(ShuffleCounter.LOCAL_BYTES, bytes);
    task.incLocalBytesRead(bytes);
  }

  @Override
  public void incRemoteBlocksFetched(long blocks) {
    task.incRemoteBlocksFetched(blocks);
  }

  @Override
  public void incRemoteBytesRead(long bytes) {
    task.incRemoteBytesRead(bytes);
  }

  @Override
  public void incRemoteBytesReadToDisk(long bytes) {
    task.incRemoteBytesReadToDisk(bytes);
  }

  @Override
  public void incFetchWaitTime(long millis) {
    task.incFetchWaitTime(millis);
  }

  @Override
  public void incRecordsRead(long records) {
    task.incRecordsRead(records);
  }

  @Override
  public void incCorruptMergedBlockChunks(long batches) {
    task.incCorruptMergedBlockChunks(batches);
  }

  @Override
  public void incMergedFetchFallbackCount(long count) {
    task.incMergedFetchFallbackCount(count);
  }

  @Override
  public void incRemoteMergedBlocksFetched(long blocks) {
    task.incRemoteMergedBlocksFetched(blocks);
  }

  @Override
  public void incLocalMergedBlocksFetched(long blocks) {
    task.incLocalMergedBlocksFetched(blocks);
  }

  @Override
  public void incRemoteMergedChunksFetched(long batches) {
    task.incRemoteMergedChunksFetched(batches);
  }

  @Override
  public void incLocalMergedChunksFetched(long batches) {
    task.incLocalMergedChunksFetched(batches);
  }

  @Override
  public void incRemoteMergedBytesRead(long bytes) {
    task.incRemoteMergedBytesRead(bytes);
  }

  @Override
  public void incLocalMergedBytesRead(long bytes) {
    task.incLocalMergedBytesRead(bytes);
  }

  @Override
  public void incRemoteReqsDuration(long millis) {
    task.incRemoteReqsDuration(millis);
  }

  @Override
  public void incRemoteMergedReqsDuration(long millis) {
    task.incRemoteMergedReqsDuration(millis);
  }
}
