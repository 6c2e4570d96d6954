package dev.sluice.spark.read;

import dev.sluice.rdma.transfer.PeerAddress;
import dev.sluice.rdma.transfer.PeerQuota;
import dev.sluice.spark.metrics.ShuffleCounters;
import dev.sluice.spark.table.BlockList;
import dev.sluice.spark.table.BlockLocator;
import dev.sluice.spark.table.LocatedBlocks;
import dev.sluice.spark.transport.ReadTransport;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import org.apache.spark.network.util.TransportConf;

/**
 * What all fetches of an executor share. {@link RdmaBlockStoreClient} makes it and closes what of
 * it has to be closed.
 *
 * @param deliverer verifies, copies, calls Spark's listeners and writes files, so that the engine's
 *     completion thread does not; its queue is bounded by the buffers of the pool and those who
 *     wait for one; it never refuses
 * @param transportConf for the download files that Spark makes
 * @param staging buffers that wait for what peers stage: so that one slow peer does not have all
 */
record ReadPath(
    ReadTransport transport,
    BlockLocator locator,
    SparkTransfer sparkTransfer,
    ShuffleCounters counters,
    ReadOptions options,
    TransportConf transportConf,
    Executor deliverer,
    DeadlineTimer timer,
    ParkedBytes parked,
    TaskLimits limits,
    PeerQuota<PeerAddress> staging) {

  /** As {@link BlockLocator#locate}. */
  CompletableFuture<List<BlockLocator.Part>> locate(
      String executorId, BlockList blocks, boolean verifiable, long deadlineNanos) {
    return locator.locate(
        executorId, blocks, verifiable, deadlineNanos, () -> bufferDeadlineNanos(deadlineNanos));
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

  /** What is READ together, in chunks of so many bytes at most, or of one block. */
  List<LocatedBlocks.Span> spans(LocatedBlocks located, int maxBytes) {
    return located.spans(maxBytes, options.maxStagedBytes());
  }

  /**
   * Requests to stage that a gathered block takes at most: all have its one deadline, and the
   * buffer and the share that it has are others' only after the last of them.
   */
  private static final int MAX_STAGED_PARTS = 4;

  /** Bytes of a block that is gathered, at most. */
  int maxGatheredBytes(LocatedBlocks located, int block) {
    int largest = transport.maxBufferBytes();
    long staged = (long) MAX_STAGED_PARTS * options.maxStagedBytes();
    return located.isStaged(block) ? (int) Math.min(largest, staged) : largest;
  }

  /** Bytes of a block of Spark's own iterator that is READ in one go, at most. */
  int maxBlockBytes(LocatedBlocks located, int block) {
    int largest = transport.maxBufferBytes();
    return located.isStaged(block) ? Math.min(largest, options.maxStagedBytes()) : largest;
  }
}
