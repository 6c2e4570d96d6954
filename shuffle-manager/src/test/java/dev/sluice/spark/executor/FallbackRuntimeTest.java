// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.executor;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.rdma.transfer.PeerAddress;
import dev.sluice.spark.conf.SluiceConf;
import dev.sluice.spark.locate.DirectoryMessage;
import dev.sluice.spark.locate.DirectoryMessage.Publish;
import dev.sluice.spark.locate.ExecutorEndpoint;
import dev.sluice.spark.locate.LocationDirectory;
import dev.sluice.spark.locate.NoBroadcasts;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.apache.spark.SparkConf;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.apache.spark.network.buffer.NioManagedBuffer;
import org.apache.spark.network.shuffle.BlockFetchingListener;
import org.apache.spark.network.shuffle.BlockStoreClient;
import org.apache.spark.network.shuffle.DownloadFileManager;
import org.apache.spark.network.util.MapConfigProvider;
import org.apache.spark.network.util.TransportConf;
import org.junit.jupiter.api.Test;

/** An executor whose RDMA does not start, while others hand map outputs over to their node. */
class FallbackRuntimeTest {
  private static final PeerAddress NODE = new PeerAddress("node-a", "node-host", 5000);
  private static final String BLOCK = "shuffle_0_1_2";
  private static final long WAIT_S = 20;

  private final BlockingQueue<String> answers = new LinkedBlockingQueue<>();
  private final LocationDirectory directory =
      new LocationDirectory(
          new LocationDirectory.Shipping(new NoBroadcasts(), Runnable::run, 1_000),
          Long.MAX_VALUE,
          _ -> true,
          _ -> {});

  @Test
  void mapOutputsOfALostExecutorComeFromItsNode() throws Exception {
    handOverAndGo();
    try (FallbackRuntime runtime = runtime("on")) {
      assertThat(fetch(runtime)).isEqualTo(BLOCK + " from node-host:5000");
      runtime.reading().client().prepare(0);
      assertThat(fetch(runtime)).isEqualTo(BLOCK + " from node-host:5000");
    }
  }

  @Test
  void whereNothingWasPromisedBlocksComeFromTheirExecutor() throws Exception {
    handOverAndGo();
    try (FallbackRuntime runtime = runtime("off")) {
      assertThat(fetch(runtime)).isEqualTo(BLOCK + " from host:7");
      runtime.committed(0, 5);
      assertThat(directory.keptByGone()).isEmpty();
    }
  }

  @Test
  void theDriverHearsOfMapOutputsThatStay() throws Exception {
    try (FallbackRuntime runtime = runtime("on")) {
      runtime.committed(0, 5);
    }
    directory.executorLost("2");
    assertThat(directory.keptByGone()).isEqualTo(Map.of("2", Map.of(0, Set.of(5L))));
  }

  private void handOverAndGo() throws IOException {
    directory.handle(new Publish(new ExecutorEndpoint("1", NODE, "soft"), List.of()));
    directory.executorLost("1");
  }

  private FallbackRuntime runtime(String node) {
    SparkConf conf = new SparkConf(false).set("spark.shuffle.rdma.node", node);
    return new FallbackRuntime(
        new SluiceConf(conf),
        new SluiceRuntime.Environment(
            conf,
            new SluiceRuntime.Executor("2", "127.0.0.1", 1),
            new SluiceRuntime.Network(
                new TransportConf("shuffle", MapConfigProvider.EMPTY),
                List.of(),
                List.of(),
                "",
                new Giving()),
            this::ask,
            new NoBroadcasts(),
            (_, _) -> null,
            List.of()),
        "RDMA cannot be started");
  }

  private DirectoryMessage ask(DirectoryMessage message) throws IOException {
    return directory.handle(message).join();
  }

  private String fetch(FallbackRuntime runtime) throws InterruptedException {
    BlockFetchingListener listener =
        new BlockFetchingListener() {
          @Override
          public void onBlockFetchSuccess(String blockId, ManagedBuffer data) {}

          @Override
          public void onBlockFetchFailure(String blockId, Throwable failure) {
            answers.add(failure.toString());
          }
        };
    runtime.reading().client().fetchBlocks("host", 7, "1", new String[] {BLOCK}, listener, null);
    return answers.poll(WAIT_S, TimeUnit.SECONDS);
  }

  /** Spark's client: delivers each block, and records its source. */
  private final class Giving extends BlockStoreClient {
    @Override
    public void fetchBlocks(
        String host,
        int port,
        String execId,
        String[] blockIds,
        BlockFetchingListener listener,
        DownloadFileManager files) {
      for (String blockId : blockIds) {
        listener.onBlockFetchSuccess(blockId, new NioManagedBuffer(ByteBuffer.allocate(1)));
        answers.add(blockId + " from " + host + ":" + port);
      }
    }

    @Override
    public void close() {}
  }
}
