package dev.sluice.benchmarks.oracle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.apache.spark.network.shuffle.BlockFetchingListener;
import org.apache.spark.network.shuffle.BlockStoreClient;
import org.apache.spark.network.shuffle.DownloadFileManager;
import org.apache.spark.network.shuffle.ExecutorDiskUtils;
import org.junit.jupiter.api.Test;

class PeerDirectoriesTest {
  private static final String NAME = "shuffle_0_1_0.data";

  private final PeerDirectories directories = new PeerDirectories(64);

  @Test
  void anExecutorIsAskedOnce() throws IOException {
    Peer peer = new Peer();
    Path expected =
        Path.of(ExecutorDiskUtils.getFilePath(new String[] {"/local/a", "/local/b"}, 64, NAME));

    assertThat(directories.find(peer, "host", 1, "0", NAME)).isEqualTo(expected);
    assertThat(directories.find(peer, "host", 1, "0", NAME)).isEqualTo(expected);
    assertThat(peer.questions).isEqualTo(1);
  }

  @Test
  void anExecutorThatDoesNotAnswerIsAnIoException() {
    Peer peer = new Peer();
    peer.failure = new IllegalStateException("gone");
    assertThatThrownBy(() -> directories.find(peer, "host", 1, "0", NAME))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("executor 0")
        .rootCause()
        .isSameAs(peer.failure);
  }

  private static final class Peer extends BlockStoreClient {
    private int questions;
    private Exception failure;

    @Override
    public void getHostLocalDirs(
        String host, int port, String[] execIds, CompletableFuture<Map<String, String[]>> answer) {
      questions++;
      if (failure != null) {
        answer.completeExceptionally(failure);
      } else {
        answer.complete(Map.of(execIds[0], new String[] {"/local/a", "/local/b"}));
      }
    }

    @Override
    public void fetchBlocks(
        String host,
        int port,
        String execId,
        String[] blockIds,
        BlockFetchingListener listener,
        DownloadFileManager downloadFileManager) {
      throw new UnsupportedOperationException();
    }

    @Override
    public void close() {}
  }
}
