package dev.sluice.spark.read;

import dev.sluice.blocks.MapOutputLocation;
import dev.sluice.spark.locate.Locator;
import dev.sluice.spark.metrics.ShuffleCounters;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.apache.spark.network.util.TransportConf;

/**
 * What all fetches of an executor share. {@link RdmaBlockStoreClient} makes it and closes what of
 * it has to be closed.
 *
 * @param deliverer verifies, calls Spark's listeners and writes files, so that the engine's
 *     completion thread does not; its queue is bounded by the buffers of the pool, since every task
 *     in it holds one
 * @param transportConf for the download files that Spark makes
 */
record ReadPath(
    ReadTransport transport,
    Locator locator,
    PartitionTableCache tables,
    SparkTransfer sparkTransfer,
    ShuffleCounters counters,
    ReadOptions options,
    TransportConf transportConf,
    Executor deliverer,
    DeadlineTimer timer) {

  /** Runs the step on a delivery thread; once those are gone, at once: it has to be answered. */
  void deliver(Runnable step) {
    deliver(deliverer, step);
  }

  static void deliver(Executor deliverer, Runnable step) {
    try {
      deliverer.execute(step);
    } catch (RejectedExecutionException _) {
      step.run();
    }
  }

  /**
   * A READ found the locations stale: neither they nor what was READ through them is used again.
   */
  void forget(int shuffleId, List<MapOutputLocation> stale) {
    stale.forEach(location -> locator.invalidate(shuffleId, location));
    tables.drop(shuffleId, stale);
  }

  /** When what begins now has to be done. */
  long deadlineNanos() {
    return timer.nanoTime() + TimeUnit.MILLISECONDS.toNanos(options.readTimeoutMs());
  }

  /** When to stop waiting for a buffer of a fetch with this deadline. */
  long bufferDeadlineNanos(long deadlineNanos) {
    long wait = timer.nanoTime() + TimeUnit.MILLISECONDS.toNanos(options.bufferWaitMs());
    return wait - deadlineNanos < 0 ? wait : deadlineNanos;
  }

  int maxGroupBytes() {
    return Math.min(options.maxGroupBytes(), transport.maxBufferBytes());
  }
}
