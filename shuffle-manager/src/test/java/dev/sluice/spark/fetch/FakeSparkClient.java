// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.fetch;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.function.Function;
import org.apache.spark.network.buffer.NioManagedBuffer;
import org.apache.spark.network.shuffle.BlockFetchingListener;
import org.apache.spark.network.shuffle.BlockStoreClient;
import org.apache.spark.network.shuffle.DownloadFileManager;

/** Stands for Spark's own client. Delivers every block that was written, unless it is lost. */
final class FakeSparkClient extends BlockStoreClient {
  /** A call of fetchBlocks. */
  record Fetch(
      String host, int port, String executorId, List<String> blockIds, DownloadFileManager files) {}

  private final Function<String, byte[]> written;
  private final Set<String> lost = new HashSet<>();
  private final List<Fetch> fetches = new ArrayList<>();
  private RuntimeException thrown;
  private Executor answering = Runnable::run;
  private boolean closed;

  /**
   * @param written returns the bytes of a block
   */
  FakeSparkClient(Function<String, byte[]> written) {
    this.written = written;
  }

  /** Makes fetches of the block fail. */
  void lose(String blockId) {
    lost.add(blockId);
  }

  /** Makes every fetch throw this after its first block. */
  void failWith(RuntimeException newThrown) {
    thrown = newThrown;
  }

  /** Answers by this executor from now on. */
  void answerBy(Executor executor) {
    answering = executor;
  }

  List<Fetch> fetches() {
    return fetches;
  }

  List<String> blockIdsFetched() {
    return fetches.stream().flatMap(fetch -> fetch.blockIds().stream()).toList();
  }

  boolean isClosed() {
    return closed;
  }

  @Override
  public void fetchBlocks(
      String host,
      int port,
      String execId,
      String[] blockIds,
      BlockFetchingListener listener,
      DownloadFileManager files) {
    fetches.add(new Fetch(host, port, execId, List.of(blockIds), files));
    answering.execute(() -> answer(blockIds, listener));
  }

  private void answer(String[] blockIds, BlockFetchingListener listener) {
    for (String blockId : blockIds) {
      if (lost.contains(blockId)) {
        listener.onBlockFetchFailure(blockId, new IllegalStateException("no block " + blockId));
      } else {
        ByteBuffer bytes = ByteBuffer.wrap(written.apply(blockId));
        listener.onBlockFetchSuccess(blockId, new NioManagedBuffer(bytes));
      }
      if (thrown != null) {
        throw thrown;
      }
    }
  }

  @Override
  public void close() {
    closed = true;
  }
}
