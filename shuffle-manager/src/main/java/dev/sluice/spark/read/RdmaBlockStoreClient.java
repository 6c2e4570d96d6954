package dev.sluice.spark.read;

import dev.sluice.rdma.transfer.PeerQuota;
import dev.sluice.rdma.transfer.RdmaEndpoint;
import dev.sluice.spark.gather.RemoteChunks;
import dev.sluice.spark.gather.SparkBlocks;
import dev.sluice.spark.locate.Locator;
import dev.sluice.spark.locate.SilentNodes;
import dev.sluice.spark.metrics.ShuffleCounters;
import dev.sluice.spark.table.BlockLocator;
import dev.sluice.spark.transport.FallbackReason;
import dev.sluice.spark.transport.ReadTransport;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Executor;
import org.apache.spark.TaskContext;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.apache.spark.network.shuffle.BlockFetchingListener;
import org.apache.spark.network.shuffle.BlockStoreClient;
import org.apache.spark.network.shuffle.DownloadFileManager;
import org.apache.spark.network.util.TransportConf;
import org.apache.spark.storage.BlockManagerId;
import org.apache.spark.storage.FallbackStorage;
import scala.Option;

/**
 * The block store client that Spark's ShuffleBlockFetcherIterator fetches through: shuffle blocks
 * by RDMA READ, everything else, and what cannot be READ, by Spark's own client. {@link
 * #fetchBlocks} is called by task threads and does not block, unless Spark's own client does. The
 * shuffle manager makes one per executor and closes it.
 */
public final class RdmaBlockStoreClient extends ShuffleClient {
  private final String ownExecutorId;

  /** What all fetches share. */
  final ReadPath path;

  private final Optional<SparkBlocks> asker;
  private final Runnable closeThreads;

  private RdmaBlockStoreClient(
      String ownExecutorId, ReadPath path, Optional<SparkBlocks> asker, Runnable closeThreads) {
    super(path.sparkTransfer());
    this.ownExecutorId = ownExecutorId;
    this.path = path;
    this.asker = asker;
    this.closeThreads = closeThreads;
  }

  /**
   * What Spark has on an executor.
   *
   * @param client Spark's own
   * @param executorId id of this executor
   * @param conf for the download files that Spark makes
   */
  public record Stock(BlockStoreClient client, String executorId, TransportConf conf) {}

  /**
   * Block servers of nodes.
   *
   * @param silent those that have not answered
   * @param sparksService whether Spark's external shuffle service answers for executors
   */
  public record Nodes(SilentNodes silent, boolean sparksService) {}

  /**
   * A client that READs.
   *
   * @param transport its endpoint is the caller's, who closes it after this client
   * @param nodes empty where there are none
   */
  public static RdmaBlockStoreClient open(
      Stock stock,
      ReadOptions options,
      ReadTransport transport,
      Locator locator,
      Optional<Nodes> nodes,
      ShuffleCounters counters) {
    return open(stock, options, transport, locator, nodes, counters, ReadThreads.start());
  }

  /**
   * As above.
   *
   * @param threads threads and time, which in tests are what they want them to be
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
    ReadPath path =
        new ReadPath(
            transport,
            new BlockLocator(locator, transport, deliverer, tableBytes, timer::nanoTime),
            new SparkTransfer(
                stock.client(),
                counters,
                threads.blocking(),
                nodes.map(
                    known ->
                        new NodeFetch.Shared(
                            stock.client(),
                            locator,
                            known.silent(),
                            threads.blocking(),
                            timer,
                            options.readTimeoutMs(),
                            known.sparksService()))),
            counters,
            options,
            stock.conf(),
            deliverer,
            timer,
            new ParkedBytes(transport, deliverer),
            new TaskLimits(options.gatherBytes()),
            new PeerQuota<>(transport.poolBytes() / 2, transport.poolBytes() / 8));
    return new RdmaBlockStoreClient(stock.executorId(), path, Optional.empty(), threads.end());
  }

  /**
   * The same client for one who wants to know of answers.
   *
   * @param told of each question, and after each answer, which may be on any thread
   */
  public RdmaBlockStoreClient telling(SparkBlocks told) {
    return new RdmaBlockStoreClient(ownExecutorId, path, Optional.of(told), () -> {});
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
    BlockFetchingListener asking =
        asker.<BlockFetchingListener>map(told -> new Telling(listener, told)).orElse(listener);
    asker.ifPresent(told -> told.asked(blockIds.length));
    List<RequestedBlock> blocks = new ArrayList<>(blockIds.length);
    FallbackReason reason = parse(execId, blockIds, blocks);
    if (reason != null) {
      transfer.fetch(target, blockIds, reason, asking, downloadFileManager);
    } else {
      // Of iterators of Spark's there is one for each reader, all on their task's thread.
      TaskLimit task = path.limits().of(TaskContext.get());
      new FetchCall(path, task, target, blocks, asking, downloadFileManager).start();
    }
  }

  /** Passes answers on, and then says that there is one. */
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

  /** Whether the blocks of an executor may be fetched together, past Spark's iterator. */
  public boolean gathers() {
    return path.options().gatherBytes() > 0;
  }

  /** Gathers the blocks of one reader of a task, which closes it. */
  public RemoteChunks gather(TaskContext task) {
    return new TaskGather(path, path.limits().of(task));
  }

  @Override
  public void unregisterShuffle(int shuffleId) {
    path.locator().forget(shuffleId);
  }

  /** Fills {@code blocks}, or says why the request is not one to READ. */
  private FallbackReason parse(String execId, String[] blockIds, List<RequestedBlock> blocks) {
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
}
