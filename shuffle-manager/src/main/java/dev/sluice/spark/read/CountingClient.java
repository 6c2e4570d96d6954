package dev.sluice.spark.read;

import dev.sluice.spark.metrics.ShuffleCounters;
import dev.sluice.spark.transport.FallbackReason;
import java.util.Optional;
import org.apache.spark.network.shuffle.BlockFetchingListener;
import org.apache.spark.network.shuffle.BlockStoreClient;
import org.apache.spark.network.shuffle.DownloadFileManager;
import org.apache.spark.storage.BlockManagerId;
import scala.Option;

/** Leaves all blocks to Spark's own client, and counts them. Nothing to close. */
final class CountingClient extends ShuffleClient {
  private final FallbackReason reason;

  /**
   * @param reason why nothing is READ
   */
  CountingClient(BlockStoreClient sparkClient, FallbackReason reason, ShuffleCounters counters) {
    super(new SparkTransfer(sparkClient, counters, Runnable::run, Optional.empty()));
    this.reason = reason;
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
  public void prepare(int shuffleId) {}

  @Override
  public void unregisterShuffle(int shuffleId) {}

  @Override
  public void close() {}
}
