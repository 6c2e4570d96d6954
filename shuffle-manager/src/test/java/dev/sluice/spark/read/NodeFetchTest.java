package dev.sluice.spark.read;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.blocks.wire.MapOutputLocation;
import dev.sluice.rdma.transfer.PeerAddress;
import dev.sluice.spark.locate.Locator;
import dev.sluice.spark.locate.SilentNodes;
import dev.sluice.spark.metrics.ShuffleCounters;
import dev.sluice.spark.transport.FallbackReason;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeoutException;
import org.apache.spark.ExecutorDeadException;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.apache.spark.network.buffer.NioManagedBuffer;
import org.apache.spark.network.shuffle.BlockFetchingListener;
import org.apache.spark.network.shuffle.BlockStoreClient;
import org.apache.spark.network.shuffle.DownloadFileManager;
import org.apache.spark.storage.BlockManagerId;
import org.junit.jupiter.api.Test;
import scala.Option;

/** Whom blocks are fetched from by Spark's transfer where nodes have block servers. */
class NodeFetchTest {
  private static final PeerAddress NODE = new PeerAddress("node", "node-host", 5000);
  private static final BlockManagerId TARGET = BlockManagerId.apply("1", "host", 7, Option.empty());
  private static final String BLOCK = "shuffle_0_1_2";
  private static final String OTHER = "shuffle_0_1_3";
  private static final String ALL = " of 1 [" + BLOCK + ", " + OTHER + "]";
  private static final String REST = " of 1 [" + OTHER + "]";
  private static final long TIMEOUT_MS = 30_000;

  private final RecordingListener listener = new RecordingListener();
  private final Scripted client = new Scripted();
  private final FakeTimer timer = new FakeTimer();
  private final SilentNodes silent = new SilentNodes(timer::nanoTime);
  private final Known driver = new Known();
  private Executor executor = Runnable::run;
  private boolean sparksService;

  private void fetch(FallbackReason reason, BlockFetchingListener answers, String... blockIds) {
    NodeFetch.Shared nodes =
        new NodeFetch.Shared(client, driver, silent, executor, timer, TIMEOUT_MS, sparksService);
    new SparkTransfer(client, new ShuffleCounters(), Runnable::run, Optional.of(nodes))
        .fetch(TARGET, blockIds, reason, answers, null);
  }

  private void fetch() {
    fetch(FallbackReason.STAGING, listener, BLOCK, OTHER);
  }

  @Test
  void blocksOfAnExecutorComeFromItsNode() {
    fetch();
    assertThat(client.fetches).containsExactly("node-host:5000" + ALL);
    assertThat(driver.asked).isZero();
    assertAllCame();
  }

  @Test
  void whatTheNodeDoesNotGiveComesFromTheExecutorThatWroteIt() {
    client.failures.add(new IllegalStateException("refused"));
    fetch();
    assertThat(client.fetches).containsExactly("node-host:5000" + ALL, "host:7" + REST);
    assertAllCame();
  }

  @Test
  void aNodeThatIsStartedAgainIsAskedAgainWhereTheExecutorIsGone() {
    driver.gone = true;
    client.failures.add(new IOException("closed"));
    client.failures.add(new ExecutorDeadException("dead"));
    fetch();
    assertThat(client.fetches)
        .containsExactly("node-host:5000" + ALL, "node-host:5000" + REST, "node-host:5000" + REST);
    assertAllCame();
  }

  @Test
  void aNodeIsFollowedToWhereTheDriverSaysThatItIsNow() {
    driver.gone = true;
    driver.now = Optional.of(new PeerAddress("node-2", "node-host", 5001));
    client.failures.add(new IOException("closed"));
    fetch();
    assertThat(client.fetches).containsExactly("node-host:5000" + ALL, "node-host:5001" + REST);
    assertAllCame();
  }

  @Test
  void whatALivingNodeDoesNotHaveOfAnExecutorThatIsGoneFailsWhenTheDriverKnows() {
    driver.gone = true;
    client.failures.add(new IllegalStateException("no such block"));
    fetch();
    assertThat(driver.reported).as("it may have begun anew").containsExactly(NODE);
    assertThat(client.fetches).containsExactly("node-host:5000" + ALL);
    assertOtherFailed("no such block");
  }

  /** As when it hangs, and Spark's processes have to authenticate. */
  @Test
  void aNodeThatCannotBeSpokenToIsAskedAgain() {
    driver.gone = true;
    client.failures.add(new RuntimeException(new TimeoutException("of a bootstrap")));
    fetch();
    assertThat(client.fetches).containsExactly("node-host:5000" + ALL, "node-host:5000" + REST);
    assertAllCame();
  }

  @Test
  void whatIsNoMapOutputIsNotSoughtAtNodes() {
    driver.known = Optional.empty();
    String merged = "shuffleChunk_0_0_2_0";
    fetch(FallbackReason.BLOCK_KIND, listener, merged);
    assertThat(client.fetches).containsExactly("host:7 of 1 [" + merged + "]");
    assertThat(driver.asked).isZero();
  }

  @Test
  void whatNobodyGivesFailsWithTheReason() {
    client.failures.add(new IOException("refused"));
    client.failures.add(new IOException("no such block"));
    fetch();
    assertOtherFailed("no such block");
  }

  @Test
  void aNodeThatGivesNothingIsWaitedForOnceByAll() {
    driver.gone = true;
    driver.hasItsAnswer = false;
    client.hangs = true;
    fetch();
    assertThat(listener.failures()).isEmpty();
    timer.advanceMs(TIMEOUT_MS);
    assertThat(listener.failures().get(OTHER)).hasMessageContaining("has given nothing for 30000");
    assertThat(silent.contains(NODE)).isTrue();

    fetch(FallbackReason.STAGING, listener, "shuffle_0_2_0");
    assertThat(client.fetches).as("of both").hasSize(1);
    assertThat(listener.failures().get("shuffle_0_2_0")).hasMessageContaining("of late");
    assertThat(timer.scheduled()).isZero();
  }

  /** Else each of them would cost a stage's attempt. */
  @Test
  void theDriverGivesUpAllThatASilentNodeHasBeforeBlocksOfExecutorsThatAreGoneFail() {
    driver.gone = true;
    driver.hasItsAnswer = false;
    silent.add(NODE);
    fetch();
    assertThat(driver.reported).containsExactly(NODE);
    assertThat(client.fetches).isEmpty();
    assertThat(listener.failures()).containsOnlyKeys(BLOCK, OTHER);
  }

  @Test
  void whatNobodyElseHasIsAskedOfASilentNodeThatAnswersTheDriver() {
    driver.gone = true;
    silent.add(NODE);
    fetch();
    assertThat(driver.reported).containsExactly(NODE);
    assertThat(client.fetches).containsExactly("node-host:5000" + ALL);
    assertAllCame();
  }

  @Test
  void aNodeThatAnswersTheDriverAloneIsAskedOnce() {
    driver.gone = true;
    silent.add(NODE);
    client.hangs = true;
    fetch();
    timer.advanceMs(TIMEOUT_MS);
    assertThat(driver.reported).containsExactly(NODE);
    assertThat(client.fetches).hasSize(1);
    assertThat(listener.failures()).containsOnlyKeys(BLOCK, OTHER);
  }

  @Test
  void ofAnExecutorThatLivesNothingIsReported() {
    silent.add(NODE);
    client.failures.add(new IOException("refused"));
    fetch();
    assertThat(driver.reported).isEmpty();
    assertOtherFailed("refused");
  }

  @Test
  void aNodeThatGivesNothingIsAskedAgainByOneAfterAWhile() {
    client.hangs = true;
    fetch();
    timer.advanceMs(TIMEOUT_MS);
    assertThat(client.fetches).containsExactly("node-host:5000" + ALL, "host:7" + ALL);
    client.fetches.clear();

    timer.advanceMs(60_000);
    fetch();
    fetch();
    assertThat(client.fetches).containsExactly("node-host:5000" + ALL, "host:7" + ALL);
    client.answerAll();
    assertThat(silent.contains(NODE)).isFalse();
    assertThat(timer.scheduled()).isZero();
  }

  @Test
  void aNodeThatGivesBlockAfterBlockIsWaitedFor() {
    client.hangs = true;
    fetch();
    timer.advanceMs(TIMEOUT_MS - 1);
    client.answer(BLOCK);
    timer.advanceMs(TIMEOUT_MS - 1);
    client.answer(OTHER);
    assertAllCame();
    assertThat(client.fetches).hasSize(1);
    assertThat(timer.scheduled()).isZero();
  }

  @Test
  void anExecutorThatTheDriverKnowsToBeGoneIsNotAsked() {
    driver.known = Optional.empty();
    driver.servesItself = false;
    driver.gone = true;
    fetch(FallbackReason.PEER, listener, BLOCK, OTHER);
    assertThat(client.fetches).containsExactly("node-host:5000" + ALL);
    assertAllCame();
  }

  @Test
  void noNodeAndNoExecutorIsAFailure() {
    driver.known = Optional.empty();
    driver.now = Optional.empty();
    driver.servesItself = false;
    driver.gone = true;
    fetch(FallbackReason.PEER, listener, BLOCK, OTHER);
    assertThat(client.fetches).isEmpty();
    assertThat(listener.failures()).containsOnlyKeys(BLOCK, OTHER);
  }

  @Test
  void anExecutorThatServesItselfIsAskedAndThenTheCopyThatItsNodeHas() {
    driver.known = Optional.empty();
    driver.servesItself = true;
    client.failures.add(new IOException("closed"));
    fetch(FallbackReason.BUFFERS, listener, BLOCK, OTHER);
    assertThat(client.fetches).containsExactly("host:7" + ALL, "node-host:5000" + REST);
    assertAllCame();
  }

  @Test
  void whereAReadHasFailedTheDriverIsAskedBeforeTheExecutor() {
    driver.known = Optional.empty();
    driver.servesItself = true;
    driver.gone = true;
    fetch(FallbackReason.CONNECT, listener, BLOCK, OTHER);
    assertThat(client.fetches).containsExactly("node-host:5000" + ALL);
    assertAllCame();
  }

  @Test
  void sparksServiceAnswersForExecutorsThatAreGone() {
    sparksService = true;
    driver.gone = true;
    client.failures.add(new IOException("closed"));
    fetch();
    assertThat(client.fetches).containsExactly("node-host:5000" + ALL, "host:7" + REST);
    assertAllCame();
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
    fetch(FallbackReason.STAGING, throwing, OTHER, BLOCK);
    assertAllCame();
  }

  @Test
  void aListenerThatThrowsOnAFailureLosesNoOtherBlock() {
    driver.known = Optional.empty();
    driver.now = Optional.empty();
    driver.gone = true;
    RecordingListener others = listener;
    BlockFetchingListener throwing =
        new BlockFetchingListener() {
          @Override
          public void onBlockFetchSuccess(String blockId, ManagedBuffer data) {}

          @Override
          public void onBlockFetchFailure(String blockId, Throwable failure) {
            others.onBlockFetchFailure(blockId, failure);
            throw new IllegalStateException("of the listener");
          }
        };
    fetch(FallbackReason.PEER, throwing, BLOCK, OTHER);
    assertThat(listener.failures()).containsOnlyKeys(BLOCK, OTHER);
  }

  @Test
  void everyBlockIsAnsweredWhereTheClientIsClosedMeanwhile() {
    driver.known = Optional.empty();
    driver.servesItself = true;
    client.failures.add(new IOException("closed"));
    timer.close();
    Queue<Runnable> later = new ArrayDeque<>();
    executor = later::add;
    fetch(FallbackReason.BUFFERS, listener, BLOCK, OTHER);
    while (!later.isEmpty()) {
      later.remove().run();
    }
    assertThat(listener.successes()).containsOnlyKeys(BLOCK);
    assertThat(listener.failures()).containsOnlyKeys(OTHER);
  }

  private void assertOtherFailed(String reason) {
    assertThat(listener.successes()).containsOnlyKeys(BLOCK);
    assertThat(listener.failures().get(OTHER)).hasMessage(reason);
    assertThat(listener.repeated()).isEmpty();
  }

  private void assertAllCame() {
    assertThat(listener.successes()).containsOnlyKeys(BLOCK, OTHER);
    assertThat(listener.failures()).isEmpty();
    assertThat(listener.repeated()).isEmpty();
  }

  /** What table and driver say. */
  private static final class Known implements Locator {
    Optional<PeerAddress> known = Optional.of(NODE);
    Optional<PeerAddress> now = Optional.of(NODE);
    boolean servesItself;
    boolean gone;
    boolean hasItsAnswer = true;
    final List<PeerAddress> reported = new ArrayList<>();
    int asked;

    @Override
    public void prepare(int shuffleId) {}

    @Override
    public CompletableFuture<Located> locate(int shuffleId, String executorId, long[] mapIds) {
      throw new UnsupportedOperationException();
    }

    @Override
    public Optional<PeerAddress> node(String executorId) {
      return known;
    }

    @Override
    public boolean servesItself(String executorId) {
      return servesItself;
    }

    @Override
    public CompletableFuture<Whereabouts> find(String executorId) {
      asked++;
      return CompletableFuture.completedFuture(new Whereabouts(now, gone));
    }

    @Override
    public CompletableFuture<Void> report(PeerAddress silentNode) {
      reported.add(silentNode);
      now = now.filter(_ -> hasItsAnswer);
      return CompletableFuture.completedFuture(null);
    }

    @Override
    public void invalidate(int shuffleId, MapOutputLocation stale) {}
  }

  /**
   * Gives all blocks, but for the last of a fetch as long as there are failures. Of a node that
   * hangs they come when the test says so.
   */
  private static final class Scripted extends BlockStoreClient {
    final List<String> fetches = new ArrayList<>();
    final Queue<Exception> failures = new ArrayDeque<>();
    final List<BlockFetchingListener> waiting = new ArrayList<>();
    boolean hangs;

    void answer(String blockId) {
      waiting.forEach(listener -> succeed(listener, blockId));
    }

    void answerAll() {
      answer(BLOCK);
      answer(OTHER);
    }

    @Override
    public void fetchBlocks(
        String host,
        int port,
        String execId,
        String[] blockIds,
        BlockFetchingListener listener,
        DownloadFileManager files) {
      fetches.add(host + ":" + port + " of " + execId + " " + List.of(blockIds));
      if (hangs && host.equals(NODE.host())) {
        waiting.add(listener);
        return;
      }
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
