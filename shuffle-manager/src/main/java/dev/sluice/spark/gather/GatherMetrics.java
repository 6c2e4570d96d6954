package dev.sluice.spark.gather;

import dev.sluice.spark.metrics.ShuffleCounters;
import java.util.concurrent.TimeUnit;
import org.apache.spark.shuffle.ShuffleReadMetricsReporter;

/**
 * Counts a reader's batch fetches in Spark's metrics of its task and in the executor's counters.
 * {@link GatheredBlocks} calls it on the reader's thread. {@link RemoteChunks} calls {@link
 * #arrived} for chunks that no thread polls, on the thread that ends the task.
 */
public record GatherMetrics(ShuffleReadMetricsReporter task, ShuffleCounters counters) {
  /** Counts a chunk that has arrived, also if no thread reads it. */
  public void arrived(Chunk chunk) {
    int blocks = chunk.blocks();
    counters.gathered(blocks);
    if (chunk.group().isLocal()) {
      task.incLocalBlocksFetched(blocks);
      task.incLocalBytesRead(chunk.bytes());
    } else {
      counters.read(blocks, chunk.bytes());
      counters.staged(chunk.way().stagedBytes());
      task.incRemoteBlocksFetched(blocks);
      task.incRemoteBytesRead(chunk.bytes());
      task.incRemoteReqsDuration(TimeUnit.NANOSECONDS.toMillis(chunk.way().requestNanos()));
    }
  }

  void waited(long nanos) {
    task.incFetchWaitTime(TimeUnit.NANOSECONDS.toMillis(nanos));
  }
}
