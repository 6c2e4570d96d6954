// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.fetch;

import dev.sluice.spark.locate.Locator;
import dev.sluice.spark.transport.FallbackReason;
import java.util.Optional;
import org.apache.spark.network.shuffle.BlockFetchingListener;
import org.apache.spark.network.shuffle.DownloadFileManager;
import org.apache.spark.storage.BlockManagerId;
import scala.Option;

/**
 * Fetches all blocks by Spark's own transport, and counts them. {@link ShuffleClient} makes it for
 * an executor that READs nothing. Task threads call {@link #fetchBlocks}, which may block while it
 * connects. Only with node daemons it has threads, and the executor's runtime closes it then.
 */
final class FallbackClient extends ShuffleClient {
  private final FallbackReason reason;
  private final Optional<Locator> locator;
  private final Runnable closeThreads;

  /**
   * @param reason why nothing is READ
   * @param locator locator of the transfer; empty if it asks no node daemons
   * @param closeThreads stops the threads of the transfer
   */
  FallbackClient(
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
