// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.fetch;

import com.codahale.metrics.MetricSet;
import dev.sluice.rdma.transfer.PeerAddress;
import dev.sluice.spark.locate.Locator;
import dev.sluice.spark.metrics.ShuffleCounters;
import dev.sluice.spark.transport.FallbackReason;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.ScheduledExecutorService;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.apache.spark.network.shuffle.BlockFetchingListener;
import org.apache.spark.network.shuffle.BlockPushingListener;
import org.apache.spark.network.shuffle.BlockStoreClient;
import org.apache.spark.network.shuffle.DownloadFileManager;
import org.apache.spark.network.shuffle.MergeFinalizerListener;
import org.apache.spark.network.shuffle.MergedBlocksMetaListener;
import org.apache.spark.network.shuffle.checksum.Cause;
import org.apache.spark.storage.BlockManagerId;
import scala.Option;

/**
 * Block store client of an executor, in front of Spark's own. It passes all calls other than
 * fetches to Spark's client, which Spark closes. The executor's runtime makes and closes it. Task
 * threads and Spark's own threads call it.
 */
public abstract sealed class ShuffleClient extends BlockStoreClient
    permits RdmaBlockStoreClient, ShuffleClient.Fallback {
  final SparkTransfer transfer;

  ShuffleClient(SparkTransfer transfer) {
    this.transfer = transfer;
  }

  /**
   * Makes a client that READs nothing, and counts the blocks that Spark's client fetches.
   *
   * @param reason why nothing is READ
   */
  public static ShuffleClient without(
      BlockStoreClient sparkClient, FallbackReason reason, ShuffleCounters counters) {
    return new Fallback(
        new SparkTransfer(sparkClient, counters, Runnable::run, Optional.empty()),
        reason,
        Optional.empty(),
        () -> {});
  }

  /**
   * Makes a client that READs nothing either, and also finds blocks at node daemons.
   *
   * @param reason why nothing is READ
   * @param locator knows which node daemon has an executor's map outputs; asks only the driver
   * @param timeoutMs an attempt at a daemon ends after this time without progress
   * @param timer the process's timer
   * @param blocking runs steps that may block
   */
  public static ShuffleClient fromNodes(
      BlockStoreClient sparkClient,
      FallbackReason reason,
      Locator locator,
      RdmaBlockStoreClient.Nodes nodes,
      long timeoutMs,
      ShuffleCounters counters,
      ScheduledExecutorService timer,
      Executor blocking) {
    ReadThreads threads = ReadThreads.start(timer, blocking);
    NodeFetch.Shared shared = nodes.shared(sparkClient, locator, threads, timeoutMs);
    return new Fallback(
        new SparkTransfer(sparkClient, counters, threads.blocking(), Optional.of(shared)),
        reason,
        Optional.of(locator),
        threads.end());
  }

  /** Announces that a task is about to fetch blocks of the shuffle. Never blocks. */
  public abstract void prepare(int shuffleId);

  /** Forgets a shuffle that was unregistered. */
  public abstract void unregisterShuffle(int shuffleId);

  @Override
  public Cause diagnoseCorruption(
      String host,
      int port,
      String execId,
      int shuffleId,
      long mapId,
      int reduceId,
      long checksum,
      String algorithm) {
    PeerAddress server = transfer.node(execId).orElseGet(() -> new PeerAddress(execId, host, port));
    return transfer
        .client()
        .diagnoseCorruption(
            server.host(), server.port(), execId, shuffleId, mapId, reduceId, checksum, algorithm);
  }

  @Override
  public MetricSet shuffleMetrics() {
    return transfer.client().shuffleMetrics();
  }

  @Override
  public void setAppAttemptId(String appAttemptId) {
    transfer.client().setAppAttemptId(appAttemptId);
  }

  @Override
  public String getAppAttemptId() {
    return transfer.client().getAppAttemptId();
  }

  @Override
  public void getHostLocalDirs(
      String host,
      int port,
      String[] execIds,
      CompletableFuture<Map<String, String[]>> hostLocalDirs) {
    transfer.client().getHostLocalDirs(host, port, execIds, hostLocalDirs);
  }

  @Override
  public void pushBlocks(
      String host,
      int port,
      String[] blockIds,
      ManagedBuffer[] buffers,
      BlockPushingListener listener) {
    transfer.client().pushBlocks(host, port, blockIds, buffers, listener);
  }

  @Override
  public void finalizeShuffleMerge(
      String host, int port, int shuffleId, int shuffleMergeId, MergeFinalizerListener listener) {
    transfer.client().finalizeShuffleMerge(host, port, shuffleId, shuffleMergeId, listener);
  }

  @Override
  public void getMergedBlockMeta(
      String host,
      int port,
      int shuffleId,
      int shuffleMergeId,
      int reduceId,
      MergedBlocksMetaListener listener) {
    transfer.client().getMergedBlockMeta(host, port, shuffleId, shuffleMergeId, reduceId, listener);
  }

  @Override
  public boolean removeShuffleMerge(String host, int port, int shuffleId, int shuffleMergeId) {
    return transfer.client().removeShuffleMerge(host, port, shuffleId, shuffleMergeId);
  }

  /**
   * Fetches all blocks by Spark's own transport, and counts them, on an executor that READs
   * nothing. {@link #fetchBlocks} may block while it connects. Only with node daemons it has
   * threads, and the executor's runtime closes it then.
   */
  static final class Fallback extends ShuffleClient {
    private final FallbackReason reason;
    private final Optional<Locator> locator;
    private final Runnable closeThreads;

    /**
     * @param reason why nothing is READ
     * @param locator locator of the transfer; empty if it asks no node daemons
     * @param closeThreads stops the threads of the transfer
     */
    Fallback(
        SparkTransfer transfer,
        FallbackReason reason,
        Optional<Locator> locator,
        Runnable closeThreads) {
      super(transfer);
      this.reason = reason;
      this.locator = locator;
      this.closeThreads = closeThreads;
    }

    @Override
    public void fetchBlocks(
        String host,
        int port,
        String execId,
        String[] blockIds,
        BlockFetchingListener listener,
        DownloadFileManager files) {
      transfer.fetch(
          BlockManagerId.apply(execId, host, port, Option.empty()),
          blockIds,
          reason,
          listener,
          files);
    }

    @Override
    public void prepare(int shuffleId) {
      locator.ifPresent(asked -> asked.prepare(shuffleId));
    }

    /** Does nothing: the runtime tells the locator, the only part that knows shuffles. */
    @Override
    public void unregisterShuffle(int shuffleId) {}

    @Override
    public void close() {
      closeThreads.run();
    }
  }
}
