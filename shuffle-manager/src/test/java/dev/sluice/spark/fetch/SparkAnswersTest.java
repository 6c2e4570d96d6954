// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.fetch;

import static dev.sluice.spark.fetch.ReadFixture.block;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.spark.fetch.RdmaBlockFetcherIterator.Source;
import dev.sluice.spark.fetch.RdmaBlockFetcherIterator.SparkReading;
import dev.sluice.spark.fetch.RemoteBatches.Arrival;
import java.io.InputStream;
import java.lang.reflect.Proxy;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.apache.spark.shuffle.ShuffleReadMetricsReporter;
import org.apache.spark.storage.BlockId;
import org.apache.spark.storage.BlockId$;
import org.apache.spark.storage.BlockManagerId;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import scala.Option;
import scala.Tuple2;
import scala.Tuple3;
import scala.collection.AbstractIterator;
import scala.collection.Iterator;

/** Reads iterators of Spark's in the order of their answers, if no batch is to come. */
class SparkAnswersTest {
  private static final long MAX_BYTES = 1_000;

  private static final String LEFT = block(1, 0);
  private static final String BESIDE = block(2, 0);
  private static final String LATER = block(3, 0);

  private final ReadFixture reads = new ReadFixture();
  private final Map<String, SparkIterator> iterators = new ConcurrentHashMap<>();
  private final CountingReadMetrics metrics =
      new CountingReadMetrics(
          (ShuffleReadMetricsReporter)
              Proxy.newProxyInstance(
                  getClass().getClassLoader(),
                  new Class<?>[] {ShuffleReadMetricsReporter.class},
                  (_, _, _) -> null),
          reads.counters);
  private final RemoteBatches batches = reads.client.gather(null, metrics::arrived);
  private RdmaBlockFetcherIterator blocks = gathered(batches);

  private RdmaBlockFetcherIterator gathered(RemoteBatches remote) {
    return new RdmaBlockFetcherIterator(new Reading(), null, remote, metrics);
  }

  /** Batches that never arrive. The test scripts the events while the task waits. */
  private static final class Scripted implements RemoteBatches {
    private final Map<String, ExecutorBlocks> groups = new HashMap<>();
    private final Queue<Runnable> script = new ArrayDeque<>();
    private final Queue<Arrival> arrived = new ArrayDeque<>();

    /** Room for late batches at each wait. */
    private final List<Long> rooms = new ArrayList<>();

    /** Executor whose blocks are left from the start; null for none. */
    private String avoided;

    void leave(String executorId) {
      groups.get(executorId).leave(BitSet.valueOf(new long[] {0b1}));
    }

    void leaveLate(String executorId) {
      groups.get(executorId).leaveLate(BitSet.valueOf(new long[] {0b1}));
    }

    @Override
    public boolean start(ExecutorBlocks group) {
      groups.put(group.address().executorId(), group);
      if (group.address().executorId().equals(avoided)) {
        leaveLate(avoided);
      }
      return true;
    }

    @Override
    public void answered(SparkBlocks answered) {
      arrived.add(answered);
    }

    @Override
    public Arrival poll() {
      return arrived.poll();
    }

    @Override
    public boolean await(long room) {
      rooms.add(room);
      boolean isMoreToCome = !script.isEmpty();
      if (isMoreToCome) {
        script.remove().run();
      }
      return isMoreToCome;
    }

    @Override
    public void awaitAnswer() {
      throw new IllegalStateException("it would wait for ever");
    }

    @Override
    public void close() {}
  }

  /** An iterator of one block, which waits for its answer as Spark's does. */
  private static final class SparkIterator extends AbstractIterator<Tuple2<BlockId, InputStream>> {
    private final BlockId block;
    private final SparkBlocks asker;
    private final BlockingQueue<InputStream> results = new LinkedBlockingQueue<>();
    private boolean ended;

    SparkIterator(BlockId block, SparkBlocks asker) {
      this.block = block;
      this.asker = asker;
    }

    void answer() {
      results.add(InputStream.nullInputStream());
      asker.answered();
    }

    @Override
    public boolean hasNext() {
      return !ended;
    }

    @Override
    public Tuple2<BlockId, InputStream> next() {
      try {
        ended = true;
        return new Tuple2<>(block, results.take());
      } catch (InterruptedException e) {
        throw new IllegalStateException(e);
      }
    }
  }

  private final class Reading implements SparkReading {
    @Override
    public Iterator<Tuple2<BlockId, InputStream>> fetch(
        List<BlocksByAddress> tracked, SparkBlocks asker) {
      BlockId id = tracked.getFirst().id(0);
      asker.asked(1);
      SparkIterator iterator = new SparkIterator(id, asker);
      iterators.put(id.name(), iterator);
      return iterator;
    }

    @Override
    public boolean concatenates() {
      return true;
    }

    @Override
    public long maxBytesInFlight() {
      return MAX_BYTES;
    }

    @Override
    public InputStream wrap(BlockId blockId, InputStream stream) {
      return stream;
    }

    @Override
    public boolean detectsCorruption() {
      return true;
    }
  }

  @AfterEach
  void close() {
    batches.close();
  }

  @Test
  void blocksThatAreNotGatheredAreReadInTheOrderOfAnswers() throws Exception {
    assertReadInTheOrderOfAnswers(BESIDE, LEFT);
  }

  @Test
  void blocksOfFailedBatchesAreReadInTheOrderOfAnswers() throws Exception {
    assertReadInTheOrderOfAnswers(LEFT, BESIDE);
  }

  /** A lost executor's iterator retries for long, while another executor may be lost as well. */
  @Test
  void leftBlocksAreFetchedAtOnceWhileAnotherExecutorDoesNotAnswer() {
    Scripted remote = startScripted(tracked("7", LEFT, 500), tracked("8", LATER, 500));
    remote.script.add(() -> remote.leave("7"));
    remote.script.add(() -> remote.leave("8"));
    remote.script.add(() -> iterators.get(LATER).answer());
    remote.script.add(() -> iterators.get(LEFT).answer());
    assertThat(readAll()).containsExactly(LATER, LEFT);
  }

  @Test
  void leftBlocksAreFetchedLaterWhileMuchIsUnderWay() {
    Scripted remote = startScripted(tracked("7", LEFT, 500), tracked("8", LATER, 501));
    remote.script.add(() -> remote.leave("7"));
    remote.script.add(() -> remote.leave("8"));
    remote.script.add(() -> assertThat(iterators).containsOnlyKeys(LEFT));
    remote.script.add(() -> iterators.get(LEFT).answer());
    remote.script.add(() -> iterators.get(LATER).answer());
    assertThat(readAll()).containsExactly(LEFT, LATER);
  }

  @Test
  void lateBlocksAndOthersDoNotWaitForEachOther() {
    Scripted remote =
        startScripted(
            tracked("7", LEFT, 900), tracked("8", LATER, 900), tracked("9", block(4, 0), 900));
    remote.script.add(() -> remote.leaveLate("7"));
    remote.script.add(() -> remote.leave("8"));
    remote.script.add(() -> assertThat(iterators).containsOnlyKeys(LEFT, LATER));
    remote.script.add(() -> remote.leaveLate("9"));
    remote.script.add(() -> assertThat(iterators).as("much is late").hasSize(2));
    remote.script.add(() -> iterators.get(LEFT).answer());
    remote.script.add(() -> iterators.get(block(4, 0)).answer());
    remote.script.add(() -> iterators.get(LATER).answer());
    assertThat(readAll()).containsExactly(LEFT, block(4, 0), LATER);
  }

  @Test
  void noMoreIsOvertakenThanSparkMayFetch() {
    Scripted remote = startScripted(tracked("7", LEFT, MAX_BYTES), tracked("8", LATER, MAX_BYTES));
    remote.script.add(() -> remote.leave("8"));
    remote.script.add(() -> remote.leaveLate("7"));
    remote.script.add(() -> iterators.get(LEFT).answer());
    remote.script.add(() -> iterators.get(LATER).answer());
    assertThat(readAll()).containsExactly(LEFT, LATER);
    assertThat(remote.rooms).startsWith(MAX_BYTES, MAX_BYTES, 0L, MAX_BYTES);
  }

  /** A join pulls its second reader minutes after the first one. */
  @Test
  void blocksOfAPeerThatIsAvoidedAreRequestedAtTheStart() {
    Scripted remote = new Scripted();
    remote.avoided = "7";
    start(remote, tracked("7", LEFT, 500));
    assertThat(iterators).containsOnlyKeys(LEFT);
    iterators.get(LEFT).answer();
    assertThat(readAll()).containsExactly(LEFT);
  }

  private Scripted startScripted(BlocksByAddress... tracked) {
    Scripted remote = new Scripted();
    start(remote, tracked);
    return remote;
  }

  private void start(Scripted remote, BlocksByAddress... tracked) {
    blocks = gathered(remote);
    blocks.start(List.of(tracked), _ -> Source.REMOTE, false);
  }

  private List<String> readAll() {
    List<String> read = new ArrayList<>();
    while (blocks.hasNext()) {
      read.add(blocks.next()._1().name());
    }
    return read;
  }

  private void assertReadInTheOrderOfAnswers(String first, String second) throws Exception {
    reads.unregistered(1, 100);
    blocks.start(
        List.of(tracked("7", LEFT, 100), tracked("8", BESIDE, 100)),
        address -> address.executorId().equals("7") ? Source.REMOTE : Source.SPARK,
        false);

    assertThat(readOnceAnswered(first)).isEqualTo(first);
    assertThat(readOnceAnswered(second)).isEqualTo(second);
    assertThat(blocks.hasNext()).isFalse();
  }

  private static BlocksByAddress tracked(String executorId, String block, long bytes) {
    return new BlocksByAddress(
        BlockManagerId.apply(executorId, "host", 99, Option.empty()),
        List.of(new Tuple3<>(BlockId$.MODULE$.apply(block), bytes, 0)));
  }

  /** Returns the block of a task that has waited before there was an answer. */
  private String readOnceAnswered(String block) throws Exception {
    CompletableFuture<String> read = new CompletableFuture<>();
    Thread task =
        Thread.ofPlatform().daemon().start(() -> read.complete(blocks.next()._1().name()));
    while (!isWaiting(task)) {
      Thread.onSpinWait();
    }
    iterators.get(block).answer();
    return read.get(20, TimeUnit.SECONDS);
  }

  private static boolean isWaiting(Thread thread) {
    return switch (thread.getState()) {
      case WAITING, TIMED_WAITING -> true;
      default -> false;
    };
  }
}
