// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.fetch;

import dev.sluice.rdma.transfer.PeerAddress;
import dev.sluice.spark.metrics.PeerName;
import dev.sluice.spark.metrics.ShuffleCounters;
import dev.sluice.spark.transport.FallbackReason;
import java.util.Arrays;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Executor;
import org.apache.spark.network.shuffle.BlockFetchingListener;
import org.apache.spark.network.shuffle.BlockStoreClient;
import org.apache.spark.network.shuffle.DownloadFileManager;
import org.apache.spark.storage.BlockManagerId;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Fetches blocks by Spark's own transport, and counts them by the reason why they were not READ.
 * They come from the executor that wrote them, or from its node daemon, which speaks the same
 * protocol. Answers reach Spark's listener unchanged. {@link ShuffleClient}s call {@link #fetch} on
 * tasks' threads, which may block; {@link FetchCall} calls {@link #fetchSoon} on any thread. Spark
 * owns and closes its client. {@link RdmaBlockStoreClient} and {@link ShuffleClient} make objects
 * of this class.
 */
final class SparkTransfer {
  private static final Logger LOG = LoggerFactory.getLogger(SparkTransfer.class);

  private final BlockStoreClient client;
  private final ShuffleCounters counters;
  private final Executor executor;
  private final Optional<NodeFetch.Shared> nodes;

  /**
   * @param executor runs the client's calls, which block while they connect
   * @param nodes how node daemons are asked; empty if there are none
   */
  SparkTransfer(
      BlockStoreClient client,
      ShuffleCounters counters,
      Executor executor,
      Optional<NodeFetch.Shared> nodes) {
    this.client = client;
    this.counters = counters;
    this.executor = executor;
    this.nodes = nodes;
  }

  BlockStoreClient client() {
    return client;
  }

  /** Returns the node daemon that has the executor's map outputs; empty if there is none. */
  Optional<PeerAddress> node(String executorId) {
    return nodes.flatMap(shared -> shared.locator().node(executorId));
  }

  /** Returns the name of the process that the executor's blocks would be READ from. */
  String peer(BlockManagerId target) {
    return node(target.executorId())
        .map(PeerName::node)
        .orElseGet(() -> PeerName.executor(target.executorId(), target.host()));
  }

  /** Fetches on the calling thread, as Spark's tasks do. May block while it connects. */
  void fetch(
      BlockManagerId target,
      String[] blockIds,
      FallbackReason reason,
      BlockFetchingListener listener,
      DownloadFileManager files) {
    fetch(target, blockIds, relay(target, blockIds, reason, listener), files);
  }

  /** Fetches on another thread, which may block. Every block gets an answer. */
  void fetchSoon(
      BlockManagerId target,
      String[] blockIds,
      FallbackReason reason,
      BlockFetchingListener listener,
      @Nullable DownloadFileManager files) {
    fetchSoon(target, blockIds, relay(target, blockIds, reason, listener), files);
  }

  /** Makes a request, which {@link #fetchSoon} sends. */
  Relay relay(
      BlockManagerId target,
      String[] blockIds,
      FallbackReason reason,
      BlockFetchingListener listener) {
    return new Relay(blockIds, reason, peer(target), listener, counters);
  }

  /** Fetches as above, for a request whose answers may also come from READs. */
  void fetchSoon(
      BlockManagerId target, String[] blockIds, Relay relay, @Nullable DownloadFileManager files) {
    LOG.debug(
        "{} blocks of executor {} go by Spark's own transfer: {}",
        blockIds.length,
        target.executorId(),
        relay.reason());
    try {
      executor.execute(
          () -> {
            try {
              fetch(target, blockIds, relay, files);
            } catch (Throwable e) {
              relay.failOutstanding(e);
            }
          });
    } catch (RuntimeException | Error e) { // Also if there is no thread for it.
      relay.failOutstanding(e);
    }
  }

  private void fetch(
      BlockManagerId target, String[] blockIds, Relay relay, @Nullable DownloadFileManager files) {
    // Only Spark's external shuffle service has the blocks that it merged.
    boolean areMapOutputs =
        Arrays.stream(blockIds).map(RequestedBlock::parse).allMatch(Objects::nonNull);
    if (nodes.isPresent() && areMapOutputs) {
      new NodeFetch(nodes.get(), target, relay, files).start(blockIds, relay.reason());
    } else {
      client.fetchBlocks(target.host(), target.port(), target.executorId(), blockIds, relay, files);
    }
  }
}
