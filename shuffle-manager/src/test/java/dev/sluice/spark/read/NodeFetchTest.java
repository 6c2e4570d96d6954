package dev.sluice.spark.read;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.rdma.transfer.PeerAddress;
import dev.sluice.spark.metrics.ShuffleCounters;
import dev.sluice.spark.transport.FallbackReason;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import org.apache.spark.ExecutorDeadException;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.apache.spark.network.buffer.NioManagedBuffer;
import org.apache.spark.network.shuffle.BlockFetchingListener;
import org.apache.spark.network.shuffle.BlockStoreClient;
import org.apache.spark.network.shuffle.DownloadFileManager;
import org.apache.spark.storage.BlockManagerId;
import org.junit.jupiter.api.Test;
import scala.Option;

/** What is not READ of a node's block server comes by Spark's transfer, from there first. */
class NodeFetchTest {
  private static final PeerAddress NODE = new PeerAddress("node", "node-host", 5000);
  private static final BlockManagerId TARGET = BlockManagerId.apply("1", "host", 7, Option.empty());
  private static final String BLOCK = "shuffle_0_1_2";
  private static final String OTHER = "shuffle_0_1_3";

  private final RecordingListener listener = new RecordingListener();
  private final Scripted client = new Scripted();
  private final ShuffleCounters counters = new ShuffleCounters();

  private void fetch() {
    new SparkTransfer(client, counters, Runnable::run, _ -> Optional.of(NODE))
        .fetch(TARGET, new String[] {BLOCK, OTHER}, FallbackReason.STAGING, listener, null);
  }

  @Test
  void blocksOfAnExecutorComeFromItsNode() {
    fetch();
    assertThat(client.fetches)
        .containsExactly("node-host:5000 of 1 [" + BLOCK + ", " + OTHER + "]");
    assertAllCame();
  }

  @Test
  void whatTheNodeDoesNotGiveComesFromTheExecutorThatWroteIt() {
    client.failures.add(new IOException("refused"));
    fetch();
    assertThat(client.fetches)
        .containsExactly(
            "node-host:5000 of 1 [" + BLOCK + ", " + OTHER + "]", "host:7 of 1 [" + OTHER + "]");
    assertAllCame();
  }

  @Test
  void aNodeThatIsStartedAgainIsAskedAgainWhereTheExecutorIsDead() {
    client.failures.add(new ExecutorDeadException("dead"));
    fetch();
    assertThat(client.fetches)
        .containsExactly(
            "node-host:5000 of 1 [" + BLOCK + ", " + OTHER + "]",
            "node-host:5000 of 1 [" + OTHER + "]");
    assertAllCame();
  }

  @Test
  void whatNobodyGivesFailsWithTheReason() {
    client.failures.add(new IOException("refused"));
    client.failures.add(new IOException("no such block"));
    fetch();
    assertThat(listener.successes()).containsOnlyKeys(BLOCK);
    assertThat(listener.failures().get(OTHER)).hasMessage("no such block");
    assertThat(listener.repeated()).isEmpty();
  }

  @Test
  void aListenerThatThrowsLosesNoOtherBlock() {
    client.failures.add(new IOException("refused"));
    RecordingListener others = listener;
    BlockFetchingListener throwing =
        new BlockFetchingListener() {
          @Override
          public void onBlockFetchSuccess(String blockId, ManagedBuffer data) {
            others.onBlockFetchSuccess(blockId, data);
            if (blockId.equals(BLOCK)) {
              throw new IllegalStateException("of the listener");
            }
          }

          @Override
          public void onBlockFetchFailure(String blockId, Throwable failure) {
            others.onBlockFetchFailure(blockId, failure);
          }
        };
    new SparkTransfer(client, counters, Runnable::run, _ -> Optional.of(NODE))
        .fetch(TARGET, new String[] {OTHER, BLOCK}, FallbackReason.STAGING, throwing, null);
    assertAllCame();
  }

  private void assertAllCame() {
    assertThat(listener.successes()).containsOnlyKeys(BLOCK, OTHER);
    assertThat(listener.failures()).isEmpty();
    assertThat(listener.repeated()).isEmpty();
  }

  /** Gives all blocks, but for the last of a fetch as long as there are failures. */
  private static final class Scripted extends BlockStoreClient {
    final List<String> fetches = new ArrayList<>();
    final Queue<Exception> failures = new ArrayDeque<>();

    @Override
    public void fetchBlocks(
        String host,
        int port,
        String execId,
        String[] blockIds,
        BlockFetchingListener listener,
        DownloadFileManager files) {
      fetches.add(host + ":" + port + " of " + execId + " " + List.of(blockIds));
      Exception failure = failures.poll();
      for (String blockId : blockIds) {
        if (failure != null && blockId.equals(OTHER)) {
          listener.onBlockFetchFailure(blockId, failure);
        } else {
          succeed(listener, blockId);
        }
      }
    }

    /** Spark's transport logs what its listeners throw. */
    private static void succeed(BlockFetchingListener listener, String blockId) {
      try {
        listener.onBlockFetchSuccess(blockId, new NioManagedBuffer(ByteBuffer.allocate(1)));
      } catch (IllegalStateException e) {
        assertThat(e).hasMessage("of the listener");
      }
    }

    @Override
    public void close() {}
  }
}
