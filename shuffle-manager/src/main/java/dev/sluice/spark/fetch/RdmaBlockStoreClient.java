// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.fetch;

import dev.sluice.blocks.staging.Stager;
import dev.sluice.rdma.transfer.RdmaEndpoint;
import dev.sluice.spark.fetch.ReadThreads.DeadlineTimer;
import dev.sluice.spark.locate.AwayNodes;
import dev.sluice.spark.locate.Locator;
import dev.sluice.spark.locate.UnresponsiveNodes;
import dev.sluice.spark.metrics.ShuffleCounters;
import dev.sluice.spark.table.BlockLocator;
import dev.sluice.spark.transport.FallbackReason;
import dev.sluice.spark.transport.ReadTransport;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.concurrent.ScheduledExecutorService;
import java.util.function.Consumer;
import org.apache.spark.TaskContext;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.apache.spark.network.shuffle.BlockFetchingListener;
import org.apache.spark.network.shuffle.BlockStoreClient;
import org.apache.spark.network.shuffle.DownloadFileManager;
import org.apache.spark.network.util.TransportConf;
import org.apache.spark.storage.BlockManagerId;
import org.apache.spark.storage.FallbackStorage;
import org.jspecify.annotations.Nullable;
import scala.Option;

/**
 * Block store client of Spark's ShuffleBlockFetcherIterator. It fetches shuffle blocks by RDMA
 * READ. Spark's own client fetches all other blocks, and those that cannot be READ. Task threads
 * call {@link #fetchBlocks}, which does not block unless Spark's own client does. The executor's
 * runtime opens one and closes it. Clients that {@link #telling} returns share its state and
 * threads, and need no close.
 */
public final class RdmaBlockStoreClient extends ShuffleClient {
  private final String ownExecutorId;

  /** State that all fetches share. */
  final FetchContext path;

  /** Iterator that this client is for; null for the executor's own client. */
  private final @Nullable SparkBlocks asker;

  /** Task of that iterator; null for the executor's own client, which any task may call. */
  private final @Nullable TaskReads task;

  private final Runnable closeThreads;

  private RdmaBlockStoreClient(
      String ownExecutorId,
      FetchContext path,
      @Nullable SparkBlocks asker,
      @Nullable TaskReads task,
      Runnable closeThreads) {
    super(path.sparkTransfer());
    this.ownExecutorId = ownExecutorId;
    this.path = path;
    this.asker = asker;
    this.task = task;
    this.closeThreads = closeThreads;
  }

  /**
   * Spark's objects on an executor.
   *
   * @param client Spark's own client
   * @param executorId id of this executor
   * @param conf for the download files that Spark makes
   */
  public record Stock(BlockStoreClient client, String executorId, TransportConf conf) {}

  /**
   * Node daemons.
   *
   * @param unresponsive daemons that did not answer
   * @param away daemons that refuse connections
   */
  public record Nodes(UnresponsiveNodes unresponsive, AwayNodes away) {
    /** Makes the state that all fetches from node daemons share. */
    NodeFetch.Shared shared(
        BlockStoreClient client, Locator locator, ReadThreads threads, long timeoutMs) {
      return new NodeFetch.Shared(
          client, locator, unresponsive, away, threads.blocking(), threads.timer(), timeoutMs);
    }
  }

  /**
   * Opens a client that READs.
   *
   * @param transport its endpoint belongs to the caller, which closes it after this client
   * @param nodes empty if there are no node daemons
   * @param timer the process's timer
   * @param blocking runs steps that may block
   */
  public static RdmaBlockStoreClient open(
      Stock stock,
      ReadOptions options,
      ReadTransport transport,
      Locator locator,
      Optional<Nodes> nodes,
      ShuffleCounters counters,
      ScheduledExecutorService timer,
      Executor blocking) {
    return open(
        stock, options, transport, locator, nodes, counters, ReadThreads.start(timer, blocking));
  }

  /**
   * Opens a client with given threads.
   *
   * @param threads threads and clock, which tests replace
   */
  static RdmaBlockStoreClient open(
      Stock stock,
      ReadOptions options,
      ReadTransport transport,
      Locator locator,
      Optional<Nodes> nodes,
      ShuffleCounters counters,
      ReadThreads threads) {
    Executor deliverer = threads.deliverer();
    DeadlineTimer timer = threads.timer();
    int maxBytes = Math.min(options.maxGroupBytes(), transport.maxBufferBytes());
    int tableBytes = Math.min(maxBytes, RdmaEndpoint.SMALL_READ_BYTES);
    FetchBudget budget = new FetchBudget(transport, options, timer, counters);
    FetchContext path =
        new FetchContext(
            transport,
            new BlockLocator(
                locator, transport, budget::bufferDeadlineNanos, deliverer, tableBytes),
            new SparkTransfer(
                stock.client(),
                counters,
                threads.blocking(),
                nodes.map(
                    known ->
                        known.shared(stock.client(), locator, threads, options.readTimeoutMs()))),
            counters,
            options,
            stock.conf(),
            deliverer,
            timer,
            new EvictableBuffers(transport, deliverer),
            new PerTask<>(() -> new TaskReads(options.gatherBytes()), TaskReads::end),
            budget,
            new LateReads(
                options.hedge(), transport.poolBytes(), timer, counters, transport::slowPeer));
    return new RdmaBlockStoreClient(stock.executorId(), path, null, null, threads.end());
  }

  /**
   * Returns this client for one iterator of Spark's.
   *
   * @param told told of each request, and after each answer on any thread
   * @param context task of the iterator, whichever thread pulls it
   */
  public RdmaBlockStoreClient telling(SparkBlocks told, TaskContext context) {
    return new RdmaBlockStoreClient(ownExecutorId, path, told, path.of(context), () -> {});
  }

  @Override
  public void fetchBlocks(
      String host,
      int port,
      String execId,
      String[] blockIds,
      BlockFetchingListener listener,
      DownloadFileManager downloadFileManager) {
    BlockManagerId target = BlockManagerId.apply(execId, host, port, Option.empty());
    BlockFetchingListener asking = listener;
    if (asker != null) {
      asker.asked(blockIds.length);
      asking = new Telling(listener, asker);
    }
    List<RequestedBlock> blocks = new ArrayList<>(blockIds.length);
    FallbackReason reason = parse(execId, blockIds, blocks);
    if (reason != null) {
      transfer.fetch(target, blockIds, reason, asking, downloadFileManager);
    } else if (asker != null && asker.areLate()) {
      Relay relay = transfer.relay(target, blockIds, FallbackReason.LATE, asking);
      task().alsoFetched(execId, new RequestedBlocks(blocks), relay);
      // The task has batches to read while this connects.
      transfer.fetchSoon(target, blockIds, relay, downloadFileManager);
    } else {
      new FetchCall(path, task(), target, blocks, asking, downloadFileManager).start();
    }
  }

  private TaskReads task() {
    return task == null ? path.of(TaskContext.get()) : task;
  }

  /** Passes answers on, and then tells the iterator. */
  private record Telling(BlockFetchingListener listener, SparkBlocks asker)
      implements BlockFetchingListener {
    @Override
    public void onBlockFetchSuccess(String blockId, ManagedBuffer data) {
      try {
        listener.onBlockFetchSuccess(blockId, data);
      } finally {
        asker.answered();
      }
    }

    @Override
    public void onBlockFetchFailure(String blockId, Throwable failure) {
      try {
        listener.onBlockFetchFailure(blockId, failure);
      } finally {
        asker.answered();
      }
    }
  }

  @Override
  public void prepare(int shuffleId) {
    path.locator().prepare(shuffleId);
  }

  /** Returns true if small blocks of an executor are fetched in batches, past Spark's iterator. */
  public boolean gathers() {
    return path.options().gatherBytes() > 0;
  }

  /**
   * Opens the batch fetch of one reader. The reader closes it after reading everything; the end of
   * the task closes it in any case.
   *
   * @param unread takes the batches that had arrived but were not polled; they are released
   * @throws IllegalStateException if the task has ended
   */
  public RemoteBatches gather(TaskContext task, Consumer<FetchedBatch> unread) {
    return BatchFetcher.open(path, path.of(task), unread);
  }

  @Override
  public void unregisterShuffle(int shuffleId) {
    path.locator().forget(shuffleId);
  }

  /** Fills {@code blocks}. Returns null, or the reason why the request cannot be READ. */
  private @Nullable FallbackReason parse(
      String execId, String[] blockIds, List<RequestedBlock> blocks) {
    if (execId.equals(ownExecutorId)
        || execId.equals(FallbackStorage.FALLBACK_BLOCK_MANAGER_ID().executorId())) {
      return FallbackReason.PEER;
    }
    for (String blockId : blockIds) {
      RequestedBlock block = RequestedBlock.parse(blockId);
      if (block == null
          || (!blocks.isEmpty() && block.shuffleId() != blocks.getFirst().shuffleId())) {
        return FallbackReason.BLOCK_KIND;
      }
      blocks.add(block);
    }
    return blocks.isEmpty() ? FallbackReason.BLOCK_KIND : null;
  }

  /** Stops the threads of this client. Spark closes its own client. Idempotent. */
  @Override
  public void close() {
    closeThreads.run();
  }

  /**
   * Options of reading. {@code SluiceConf} makes them when an executor starts; immutable.
   *
   * @param verifyChecksums true to verify Spark's partition checksums after a READ
   * @param readTimeoutMs time after which blocks that were not READ fall back to Spark's own
   *     transport; for blocks that are READ to disk, the time without progress
   * @param bufferWaitMs time that a READ waits for a free buffer
   * @param maxGroupBytes largest buffer into which small blocks are READ together
   * @param gatherBytes limit of the bytes of batch fetches that a task READs or holds; 0 for no
   *     batch fetches
   * @param maxStagedBytes limit of one staging request
   * @param hedge true to leave batches to Spark's own transport whose READs take much longer than
   *     most
   */
  public record ReadOptions(
      boolean verifyChecksums,
      long readTimeoutMs,
      long bufferWaitMs,
      int maxGroupBytes,
      long gatherBytes,
      int maxStagedBytes,
      boolean hedge) {

    /**
     * Defaults of the configuration, for one task at a time in the least memory that Spark gives.
     */
    public static final ReadOptions DEFAULT = new Builder().build();

    /** Returns a copy of these options with the named changes. */
    public ReadOptions with(Consumer<Builder> change) {
      Builder builder = new Builder(this);
      change.accept(builder);
      return builder.build();
    }

    /** The components by name. */
    public static final class Builder {
      public boolean verifyChecksums = true;
      public long readTimeoutMs = 30_000;
      public long bufferWaitMs = 2_000;
      public int maxGroupBytes = 1 << 20;
      public long gatherBytes = 24 << 20;
      public int maxStagedBytes = Stager.MAX_REQUEST_BYTES;
      public boolean hedge = true;

      private Builder() {}

      private Builder(ReadOptions from) {
        verifyChecksums = from.verifyChecksums;
        readTimeoutMs = from.readTimeoutMs;
        bufferWaitMs = from.bufferWaitMs;
        maxGroupBytes = from.maxGroupBytes;
        gatherBytes = from.gatherBytes;
        maxStagedBytes = from.maxStagedBytes;
        hedge = from.hedge;
      }

      private ReadOptions build() {
        return new ReadOptions(
            verifyChecksums,
            readTimeoutMs,
            bufferWaitMs,
            maxGroupBytes,
            gatherBytes,
            maxStagedBytes,
            hedge);
      }
    }
  }
}
