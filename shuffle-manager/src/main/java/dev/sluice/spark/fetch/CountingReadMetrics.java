// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.fetch;

import dev.sluice.spark.metrics.ShuffleCounter;
import dev.sluice.spark.metrics.ShuffleCounters;
import org.apache.spark.shuffle.ShuffleReadMetricsReporter;

/**
 * Passes a task's read metrics on to Spark. Also counts local blocks and bytes, of this executor
 * and of its host, in the executor's counters. Each {@code RdmaShuffleReader} makes one. Called on
 * the task's thread, as every reporter.
 */
public record CountingReadMetrics(ShuffleReadMetricsReporter task, ShuffleCounters counters)
    implements ShuffleReadMetricsReporter {

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
