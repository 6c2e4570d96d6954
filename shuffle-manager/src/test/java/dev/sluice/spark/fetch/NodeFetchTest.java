// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.fetch;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.blocks.wire.MapOutputLocation;
import dev.sluice.rdma.transfer.PeerAddress;
import dev.sluice.spark.locate.AwayNodes;
import dev.sluice.spark.locate.Locator;
import dev.sluice.spark.locate.UnresponsiveNodes;
import dev.sluice.spark.metrics.ShuffleCounters;
import dev.sluice.spark.transport.FallbackReason;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;
import org.apache.spark.ExecutorDeadException;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.apache.spark.network.buffer.NioManagedBuffer;
import org.apache.spark.network.shuffle.BlockFetchingListener;
import org.apache.spark.network.shuffle.BlockStoreClient;
import org.apache.spark.network.shuffle.DownloadFileManager;
import org.apache.spark.storage.BlockManagerId;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import scala.Option;

/** Order in which Spark's own transport asks node daemons and executors for blocks. */
class NodeFetchTest {
  private static final PeerAddress NODE = new PeerAddress("node", "node-host", 5000);
  private static final BlockManagerId TARGET = BlockManagerId.apply("1", "host", 7, Option.empty());
  private static final String BLOCK = "shuffle_0_1_2";
  private static final String OTHER = "shuffle_0_1_3";
  private static final String ALL = " of 1 [" + BLOCK + ", " + OTHER + "]";
  private static final String REST = " of 1 [" + OTHER + "]";
  private static final long TIMEOUT_MS = 30_000;
  private static final long AWAY_LIMIT_NANOS = TimeUnit.SECONDS.toNanos(120);

  private static final Executor NO_THREADS =
      _ -> {
        throw new InternalError("thrown by a test: no thread can be created");
      };

  private final RecordingListener listener = new RecordingListener();
  private final Scripted client = new Scripted();
  private final FakeTimer timer = new FakeTimer();
  private final UnresponsiveNodes unresponsive = new UnresponsiveNodes(timer::nanoTime);
  private final Known driver = new Known();

  /** Number of times that the daemon still refuses connections. */
  private int refusals;

  private BooleanSupplier refuses = () -> refusals-- > 0;

  private final AwayNodes awayNodes =
      new AwayNodes(AWAY_LIMIT_NANOS, _ -> refuses.getAsBoolean(), this::passing);

  /** Time that passes with each look at the clock. */
  private long stepNanos = TimeUnit.SECONDS.toNanos(3);

  private long awayNanos;

  private long passing() {
    awayNanos += stepNanos;
    return awayNanos;
  }

  private Executor executor = Runnable::run;

  private void fetch(FallbackReason reason, BlockFetchingListener answers, String... blockIds) {
    NodeFetch.Shared nodes =
        new NodeFetch.Shared(client, driver, unresponsive, awayNodes, executor, timer, TIMEOUT_MS);
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
  void blocksThatTheNodeRefusesComeFromTheirExecutor() {
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
  void aNodeThatIsAwayIsWaitedForWhereTheExecutorIsGone() {
    driver.gone = true;
    refusals = 2;
    client.failures.add(new ExecutorDeadException("dead"));
    fetch();
    assertThat(client.fetches).containsExactly("node-host:5000" + ALL, "node-host:5000" + REST);
    assertThat(driver.reported).isEmpty();
    assertAllCame();
  }

  @Test
  void blocksOfANodeThatIsAwayForLongerThanItsLimitFailWhenTheDriverKnows() {
    driver.gone = true;
    driver.hasItsAnswer = false;
    refusals = Integer.MAX_VALUE;
    stepNanos = TimeUnit.SECONDS.toNanos(20);
    client.failures.add(new IOException("closed"));
    fetch();
    assertThat(client.fetches).containsExactly("node-host:5000" + ALL);
    assertThat(driver.reported).containsExactly(NODE);
    assertOtherFailed("closed");
  }

  /** The daemon opens its port, and ends at the first request. */
  @Test
  void aNodeThatComesAndGoesIsGivenUpWithinItsLimit() {
    failWhereTheNodeComesAndGoes();
    assertGivenUpWhereTheNodeComesAndGoes();
  }

  @Test
  void aNodeThatComesAndGoesIsGivenUpWithinItsLimitWhereItAnswersOthers() {
    client.whenFetching = () -> awayNodes.answered(NODE);
    failWhereTheNodeComesAndGoes();
    assertGivenUpWhereTheNodeComesAndGoes();
  }

  private void failWhereTheNodeComesAndGoes() {
    driver.gone = true;
    Iterator<Boolean> refusing =
        Stream.generate(() -> List.of(true, false, false)).flatMap(List::stream).iterator();
    refuses = refusing::next;
    for (int i = 0; i < 100; i++) {
      client.failures.add(new IOException("closed"));
    }
    fetch();
  }

  private void assertGivenUpWhereTheNodeComesAndGoes() {
    assertThat(driver.reported).containsOnly(NODE);
    assertThat(client.fetches).hasSizeBetween(3, 20);
    assertOtherFailed("closed");
  }

  @Test
  void whereTheExecutorLivesANodeThatIsAwayIsNotWaitedFor() {
    refusals = Integer.MAX_VALUE;
    client.failures.add(new IOException("refused"));
    fetch();
    assertThat(client.fetches).containsExactly("node-host:5000" + ALL, "host:7" + REST);
    assertAllCame();
  }

  @Test
  void aNodeIsFollowedToTheAddressThatTheDriverReports() {
    driver.gone = true;
    driver.now = Optional.of(new PeerAddress("node-2", "node-host", 5001));
    client.failures.add(new IOException("closed"));
    fetch();
    assertThat(client.fetches).containsExactly("node-host:5000" + ALL, "node-host:5001" + REST);
    assertAllCame();
  }

  @Test
  void blocksOfALostExecutorThatALiveNodeLacksFailOnceTheDriverKnows() {
    driver.gone = true;
    client.failures.add(new IllegalStateException("no such block"));
    fetch();
    assertThat(driver.reported).as("the node may have begun anew").containsExactly(NODE);
    assertThat(client.fetches).containsExactly("node-host:5000" + ALL);
    assertOtherFailed("no such block");
  }

  /** Happens if the daemon hangs while Spark's processes have to authenticate. */
  @Test
  void aNodeThatCannotBeReachedIsAskedAgain() {
    driver.gone = true;
    client.failures.add(new RuntimeException(new TimeoutException("of a bootstrap")));
    fetch();
    assertThat(client.fetches).containsExactly("node-host:5000" + ALL, "node-host:5000" + REST);
    assertAllCame();
  }

  @Test
  void mergedBatchesAreNotSoughtAtNodes() {
    driver.known = Optional.empty();
    String merged = "shuffleChunk_0_0_2_0";
    fetch(FallbackReason.BLOCK_KIND, listener, merged);
    assertThat(client.fetches).containsExactly("host:7 of 1 [" + merged + "]");
    assertThat(driver.asked).isZero();
  }

  @Test
  void blocksThatNoServerGivesFailWithTheReason() {
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
    assertThat(listener.failures().get(OTHER)).hasMessageContaining("has sent nothing for 30000");
    assertThat(unresponsive.contains(NODE)).isTrue();

    fetch(FallbackReason.STAGING, listener, "shuffle_0_2_0");
    assertThat(client.fetches).as("fetches for both blocks").hasSize(1);
    assertThat(listener.failures().get("shuffle_0_2_0"))
        .hasMessageContaining("has not answered recently");
    assertThat(timer.scheduled()).isZero();
  }

  /** Otherwise each of these executors would cost an attempt of the stage. */
  @Test
  void theDriverGivesUpAllThatASilentNodeHasBeforeBlocksOfExecutorsThatAreGoneFail() {
    driver.gone = true;
    driver.hasItsAnswer = false;
    unresponsive.add(NODE);
    fetch();
    assertThat(driver.reported).containsExactly(NODE);
    assertThat(client.fetches).isEmpty();
    assertThat(listener.failures()).containsOnlyKeys(BLOCK, OTHER);
  }

  @Test
  void blocksWithoutAnotherHolderAreAskedOfASilentNodeThatAnswersTheDriver() {
    driver.gone = true;
    unresponsive.add(NODE);
    fetch();
    assertThat(driver.reported).containsExactly(NODE);
    assertThat(client.fetches).containsExactly("node-host:5000" + ALL);
    assertAllCame();
  }

  @Test
  void aNodeThatAnswersTheDriverAloneIsAskedOnce() {
    driver.gone = true;
    unresponsive.add(NODE);
    client.hangs = true;
    fetch();
    timer.advanceMs(TIMEOUT_MS);
    assertThat(driver.reported).containsExactly(NODE);
    assertThat(client.fetches).hasSize(1);
    assertThat(listener.failures()).containsOnlyKeys(BLOCK, OTHER);
  }

  @Test
  void liveExecutorsAreNotReported() {
    unresponsive.add(NODE);
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
    assertThat(unresponsive.contains(NODE)).isFalse();
    assertThat(timer.scheduled()).isZero();
  }

  @Test
  void aProbeWhoseBlocksHaveMovedToAnotherNodeEnds() {
    unresponsive.add(NODE);
    timer.advanceMs(60_000);
    driver.gone = true;
    driver.now = Optional.of(new PeerAddress("node-2", "node-host", 5001));
    client.failures.add(new IOException("closed"));
    fetch(FallbackReason.STAGING, listener, OTHER);
    assertThat(client.fetches).containsExactly("node-host:5000" + REST, "node-host:5001" + REST);

    timer.advanceMs(60_000);
    assertThat(unresponsive.admits(NODE)).isTrue();
  }

  @Test
  void aProbeWithoutAThreadForItsNextStepEnds() {
    unresponsive.add(NODE);
    timer.advanceMs(60_000);
    client.failures.add(new IOException("closed"));
    executor = NO_THREADS;
    fetch(FallbackReason.STAGING, listener, OTHER);
    assertThat(listener.failures().get(OTHER)).hasMessage("closed");

    timer.advanceMs(60_000);
    assertThat(unresponsive.admits(NODE)).isTrue();
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

  /** It may have ended. */
  @ParameterizedTest
  @EnumSource(names = {"CONNECT", "LATE"})
  void afterAFailedReadTheDriverIsAskedBeforeTheExecutor(FallbackReason reason) {
    driver.known = Optional.empty();
    driver.servesItself = true;
    driver.gone = true;
    fetch(reason, listener, BLOCK, OTHER);
    assertThat(client.fetches).containsExactly("node-host:5000" + ALL);
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

  @Test
  void everyBlockIsAnsweredWithoutAThreadForSparksTransfer() {
    new SparkTransfer(client, new ShuffleCounters(), NO_THREADS, Optional.empty())
        .fetchSoon(TARGET, new String[] {BLOCK, OTHER}, FallbackReason.PEER, listener, null);
    assertThat(listener.failures()).containsOnlyKeys(BLOCK, OTHER);
  }

  @Test
  void everyBlockIsAnsweredWithoutAThreadForTheNextStep() {
    client.failures.add(new IllegalStateException("refused"));
    executor = NO_THREADS;
    fetch();
    assertOtherFailed("refused");
  }

  @Test
  void everyBlockIsAnsweredWhereAStepFailsByAnError() {
    driver.gone = true;
    client.failures.add(new IOException("closed"));
    refuses =
        () -> {
          throw new InternalError("thrown by a test");
        };
    Queue<Runnable> later = new ArrayDeque<>();
    executor = later::add;
    fetch();
    later.remove().run();
    assertOtherFailed("closed");
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

  /** State of table and driver. */
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
   * Delivers all blocks, except for the last of a fetch as long as there are failures. Blocks of a
   * daemon that hangs come when the test says so.
   */
  private static final class Scripted extends BlockStoreClient {
    final List<String> fetches = new ArrayList<>();
    final Queue<Exception> failures = new ArrayDeque<>();
    final List<BlockFetchingListener> waiting = new ArrayList<>();
    Runnable whenFetching = () -> {};
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
      whenFetching.run();
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

    /** Ignores exceptions of listeners, as Spark's transport logs them. */
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
