// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.fetch;

import dev.sluice.spark.fetch.RdmaBlockStoreClient.ReadOptions;
import dev.sluice.spark.fetch.ReadThreads.DeadlineTimer;
import dev.sluice.spark.metrics.ShuffleCounters;
import dev.sluice.spark.table.BlockLocator;
import dev.sluice.spark.transport.ReadTransport;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import org.apache.spark.TaskContext;
import org.apache.spark.network.util.TransportConf;
import org.jspecify.annotations.Nullable;

/**
 * State that all fetches of an executor share; immutable. {@link RdmaBlockStoreClient} makes it and
 * closes its threads. Any thread; no method blocks.
 *
 * @param deliverer verifies, copies, calls Spark's listeners and writes files in place of the
 *     engine's completion thread. Its queue is bounded by the buffers of the pool and the requests
 *     that wait for one. It never refuses a step.
 * @param transportConf for the download files that Spark makes
 */
record FetchContext(
    ReadTransport transport,
    BlockLocator locator,
    SparkTransfer sparkTransfer,
    ShuffleCounters counters,
    ReadOptions options,
    TransportConf transportConf,
    Executor deliverer,
    DeadlineTimer timer,
    EvictableBuffers parked,
    PerTask<TaskReads> tasks,
    FetchBudget budget,
    LateReads lateReads) {

  /**
   * Returns the state that the readers of a task share.
   *
   * @param task null for a reader without a task, which shares nothing
   */
  TaskReads of(@Nullable TaskContext task) {
    return task == null ? new TaskReads(options.gatherBytes()) : tasks.of(task);
  }

  /** Returns the deadline of a fetch that starts now. */
  long deadlineNanos() {
    return timer.nanoTime() + TimeUnit.MILLISECONDS.toNanos(options.readTimeoutMs());
  }

  int maxGroupBytes() {
    return Math.min(options.maxGroupBytes(), transport.maxBufferBytes());
  }

  /** Returns the largest buffer for blocks that are staged together, in bytes. */
  int maxStagedBytes() {
    return Math.min(options.maxStagedBytes(), maxGroupBytes());
  }
}
