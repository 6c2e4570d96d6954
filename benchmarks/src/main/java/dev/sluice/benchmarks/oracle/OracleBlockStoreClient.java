package dev.sluice.benchmarks.oracle;

import java.io.IOException;
import java.nio.file.Path;
import org.apache.spark.SparkEnv;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.apache.spark.network.shuffle.BlockFetchingListener;
import org.apache.spark.network.shuffle.BlockStoreClient;
import org.apache.spark.network.shuffle.DownloadFileManager;

/** Answers every block from mapped files, at once, on the thread that asks. Holds nothing. */
final class OracleBlockStoreClient extends BlockStoreClient {
  private final MapOutputs outputs;
  private final PeerDirectories directories;

  OracleBlockStoreClient(MapOutputs outputs, PeerDirectories directories) {
    this.outputs = outputs;
    this.directories = directories;
  }

  /** Blocks are answered from memory, also those that Spark would have on disk. */
  @Override
  public void fetchBlocks(
      String host,
      int port,
      String execId,
      String[] blockIds,
      BlockFetchingListener listener,
      DownloadFileManager downloadFileManager) {
    for (String blockId : blockIds) {
      try {
        listener.onBlockFetchSuccess(blockId, block(host, port, execId, blockId));
      } catch (IOException e) {
        listener.onBlockFetchFailure(blockId, e);
      }
    }
  }

  private ManagedBuffer block(String host, int port, String execId, String blockId)
      throws IOException {
    Partitions wanted = Partitions.parse(blockId);
    return outputs
        .get(
            wanted.shuffleId(),
            wanted.mapId(),
            () ->
                MapOutput.open(
                    file(host, port, execId, wanted, "data"),
                    file(host, port, execId, wanted, "index")))
        .block(wanted.start(), wanted.end());
  }

  /** Named as Spark's ShuffleDataBlockId and ShuffleIndexBlockId. */
  private Path file(String host, int port, String execId, Partitions wanted, String kind)
      throws IOException {
    String name = "shuffle_%d_%d_0.%s".formatted(wanted.shuffleId(), wanted.mapId(), kind);
    return directories.find(
        SparkEnv.get().blockManager().blockStoreClient(), host, port, execId, name);
  }

  @Override
  public void close() {}
}
