// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.fetch;

import static dev.sluice.spark.fetch.ReadFixture.block;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.rdma.transfer.ReadException.Cause;
import dev.sluice.spark.transport.FakeTransport;
import dev.sluice.spark.transport.FallbackReason;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.stream.IntStream;
import org.apache.spark.TaskContext$;
import org.apache.spark.TaskContextImpl;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Batches whose READ is late are left to Spark's transfer. */
@Timeout(60)
class LateBatchTest {
  /** Three batches of 21 blocks. */
  private static final int MAPS = 63;

  private static final int BLOCK_BYTES = 3000;

  private ReadFixture reads = new ReadFixture();
  private final String[] blocks =
      IntStream.range(0, MAPS).mapToObj(map -> block(map, 1)).toArray(String[]::new);

  /** Blocks of the second batch, whose READ is held. */
  private final String[] second = Arrays.copyOfRange(blocks, 21, 42);

  private final Deque<Runnable> held = new ArrayDeque<>();
  private int dataReads;

  private void register() {
    for (int map = 0; map < MAPS; map++) {
      reads.registered(map, 500, BLOCK_BYTES, 500);
    }
  }

  private void holdSecondRead() {
    holdSecondRead(null);
  }

  /**
   * @param failure of the READ that is held; null to let it succeed
   */
  private void holdSecondRead(Cause failure) {
    reads.transport.script(
        (_, read) -> {
          dataReads += isData(read) ? 1 : 0;
          boolean isHeld = isData(read) && dataReads == 2;
          reads.transport.holdReads(isHeld ? held::add : Runnable::run);
          return isHeld ? failure : null;
        });
  }

  /** Holds so many READs of batches, from the first one on. */
  private void holdReads(int count) {
    reads.transport.script(
        (_, read) -> {
          dataReads += isData(read) ? 1 : 0;
          boolean isHeld = isData(read) && dataReads <= count;
          reads.transport.holdReads(isHeld ? held::add : Runnable::run);
          return null;
        });
  }

  private static boolean isData(FakeTransport.Read read) {
    return read.bytes() % BLOCK_BYTES == 0;
  }

  /** Returns a thread that reads the rest, and waits for a batch, or has ended. */
  private static Thread waiting(BatchFetchFixture task) {
    Thread waiting = Thread.ofPlatform().daemon().start(task::readAll);
    while (waiting.isAlive() && waiting.getState() != Thread.State.TIMED_WAITING) {
      Thread.onSpinWait();
    }
    return waiting;
  }

  private static void readTo(int blocks, BatchFetchFixture task) {
    while (task.delivered.size() < blocks) {
      task.readNext();
    }
  }

  /** Waits until a waiting task has looked for late READs again, or has ended. */
  private void awaitLook(Thread waiting) {
    int before = reads.timer.looks();
    while (waiting.isAlive() && reads.timer.looks() < before + 10) {
      Thread.onSpinWait();
    }
  }

  private static void assertEnds(Thread task) throws InterruptedException {
    assertThat(task.join(Duration.ofSeconds(30))).isTrue();
  }

  private void assertAllDelivered(BatchFetchFixture task) {
    assertThat(task.delivered).containsExactlyInAnyOrder(blocks);
    task.close();
  }

  @AfterEach
  void nothingIsHeld() {
    reads.assertNothingIsHeld();
  }

  @Test
  void aLateBatchIsFetchedBySparkAndItsBufferComesBackLater() {
    register();
    reads.readFromOthers();
    holdSecondRead();
    BatchFetchFixture task = new BatchFetchFixture(reads).start(blocks);
    reads.timer.advanceMs(51);
    task.readAll();

    assertThat(task.bySpark).containsExactly(second);
    assertThat(task.late).containsExactly(second);
    assertAllDelivered(task);
    assertThat(reads.transport.buffersOut()).isEqualTo(1);
    assertThat(reads.count("hedge.batches")).isOne();
    assertThat(reads.count("hedge.bytes")).isEqualTo(21 * BLOCK_BYTES);

    held.remove().run();
    assertThat(reads.transport.buffersOut()).isZero();
    assertThat(reads.count("read.blocks")).isEqualTo(42);
  }

  @Test
  void aBatchThatFailsAfterItWasGivenUpIsFetchedOnce() {
    register();
    reads.readFromOthers();
    holdSecondRead(Cause.TRANSPORT);
    BatchFetchFixture task = new BatchFetchFixture(reads).start(blocks);
    reads.timer.advanceMs(51);
    while (task.bySpark.isEmpty()) {
      task.readNext();
    }
    held.remove().run();
    task.readAll();

    assertThat(task.bySpark).containsExactly(second);
    assertAllDelivered(task);
    assertThat(reads.count("hedge.batches")).isOne();
  }

  @Test
  void aTaskThatEndsGivesTheBufferBackWhenTheReadEnds() {
    register();
    reads.readFromOthers();
    holdSecondRead();
    BatchFetchFixture task = new BatchFetchFixture(reads).start(blocks);
    reads.timer.advanceMs(51);
    while (task.bySpark.isEmpty()) {
      task.readNext();
    }
    task.close();
    held.remove().run();
  }

  @Test
  void aBatchIsWaitedForIfThatIsOff() throws InterruptedException {
    reads = new ReadFixture(ReadFixture.OPTIONS.with(o -> o.hedge = false));
    register();
    reads.readFromOthers();
    holdSecondRead();
    BatchFetchFixture task = new BatchFetchFixture(reads).start(blocks);
    readTo(42, task);
    reads.timer.advanceMs(5_000);
    Thread waiting = waiting(task);
    assertThat(task.bySpark).isEmpty();
    assertThat(waiting.isAlive()).isTrue();

    held.remove().run();
    assertEnds(waiting);
    assertThat(task.bySpark).isEmpty();
    assertAllDelivered(task);
  }

  /** Nothing wakes the waiting task but its own pause. */
  @Test
  void aLateBatchIsGivenUpWhenTheLimitAllowsForIt() throws InterruptedException {
    register();
    for (int i = 0; i < LateReads.MIN_READS; i++) {
      reads.readBatch("other", 1, 1);
    }
    holdSecondRead();
    BatchFetchFixture task = new BatchFetchFixture(reads).start(blocks);
    readTo(42, task);
    reads.timer.advanceMs(51);
    Thread waiting = waiting(task);
    assertThat(reads.count("hedge.batches")).as("2 % of two batches are too few").isZero();

    task.whileItWaits(() -> reads.readBatch("other", 10_000_000, 50));
    assertEnds(waiting);

    assertThat(task.bySpark).containsExactly(second);
    assertAllDelivered(task);
    held.remove().run();
  }

  @Test
  void aBatchIsNotLateForAPauseOfThisProcess() throws InterruptedException {
    register();
    reads.readFromOthers();
    holdSecondRead();
    BatchFetchFixture task = new BatchFetchFixture(reads).start(blocks);
    readTo(42, task);
    Thread waiting = waiting(task);
    task.whileItWaits(() -> reads.timer.advanceMs(5_000));
    awaitLook(waiting);
    assertThat(reads.count("hedge.batches")).isZero();

    held.remove().run();
    assertEnds(waiting);
    assertThat(task.bySpark).isEmpty();
    assertAllDelivered(task);
  }

  /** The READs of 19 blocks each that are under way have both staging slots. */
  @Test
  void stagedBatchesDoNotWaitForOvertakenOnes() {
    stage();
    reads.readFromOthers();
    holdReads(2);
    BatchFetchFixture task = new BatchFetchFixture(reads).start(blocks);
    reads.timer.advanceMs(51);
    readTo(38, task);
    assertThat(reads.count("hedge.batches")).isEqualTo(2);
    reads.timer.advanceMs(50);
    task.readAll();

    assertThat(task.late).containsExactlyInAnyOrder(blocks);
    assertAllDelivered(task);
    assertThat(reads.count("hedge.batches")).as("others have no extra bytes").isEqualTo(2);
    assertThat(reads.transport.reads()).hasSize(2);
    held.forEach(Runnable::run);
  }

  @Test
  void aBatchIsLeftToSparkIfItsPeerIsAvoidedBeforeItsReadBegins() {
    stage();
    reads.readFromOthers();
    reads.transport.holdStages(held::add);
    BatchFetchFixture task = new BatchFetchFixture(reads).start(blocks);
    reads.beLate();
    task.readAll();

    assertThat(task.late).containsExactlyInAnyOrder(blocks);
    assertAllDelivered(task);
    held.forEach(Runnable::run);
    assertThat(reads.transport.reads()).as("leases without a waiting task").isEmpty();
  }

  @Test
  void nothingIsReadFromAPeerThatIsAvoided() {
    register();
    reads.readFromOthers();
    reads.beLate();
    BatchFetchFixture task = new BatchFetchFixture(reads).start(blocks).readAll();

    assertThat(task.late).containsExactly(blocks);
    assertAllDelivered(task);
    assertThat(reads.transport.reads()).isEmpty();
    assertThat(reads.count("hedge.bytes")).isZero();
  }

  /** There is room for four batches of three blocks. */
  @Test
  void batchesThatWaitAreLeftToSparkWhenTheirPeerIsAvoided() {
    reads = new ReadFixture(ReadFixture.OPTIONS.with(o -> o.gatherBytes = 40_000));
    register();
    reads.readFromOthers();
    BatchFetchFixture task = new BatchFetchFixture(reads).start(blocks);
    int before = reads.transport.reads().size();
    reads.beLate();
    task.readAll();

    assertThat(task.late).hasSize(MAPS - 12).isEqualTo(task.bySpark);
    assertAllDelivered(task);
    assertThat(reads.transport.reads()).hasSize(before);
  }

  /** Batches have only small blocks, and late ones are not READ. */
  @Test
  void largeBlocksOfAPeerThatIsAvoidedAreRead() {
    register();
    reads.registered(MAPS, 300_000);
    reads.readFromOthers();
    reads.beLate();
    String[] all = Arrays.copyOf(blocks, MAPS + 1);
    all[MAPS] = block(MAPS, 0);
    BatchFetchFixture task = new BatchFetchFixture(reads).start(all).readAll();

    assertThat(task.late).containsExactly(blocks);
    assertThat(task.bySpark).containsExactlyInAnyOrder(all);
    task.close();
  }

  @Test
  void aProbeThatIsInTimeEndsTheAvoidance() {
    register();
    reads.readFromOthers();
    reads.beLate();
    reads.timer.advanceMs(30_000);
    BatchFetchFixture task = new BatchFetchFixture(reads).start(blocks).readAll();
    assertThat(task.late).as("no task waits for the probe").containsExactly(blocks);
    assertAllDelivered(task);
    assertThat(reads.transport.reads().stream().filter(LateBatchTest::isData)).hasSize(1);
    assertThat(reads.count("hedge.batches")).isOne();
    assertThat(reads.count("read.blocks")).isZero();

    BatchFetchFixture next = new BatchFetchFixture(reads).start(blocks).readAll();
    assertThat(next.bySpark).isEmpty();
    assertAllDelivered(next);
  }

  @Test
  void aProbeOfAPeerThatStagesGivesItsLeaseBack() {
    for (int map = 0; map < MAPS; map++) {
      reads.unverifiable(map, 500, BLOCK_BYTES, 500);
    }
    reads.readFromOthers();
    reads.beLate();
    reads.timer.advanceMs(30_000);
    assertAllDelivered(new BatchFetchFixture(reads).start(blocks).readAll());
    assertThat(reads.transport.stages()).hasSize(1);
    assertThat(reads.client.path.lateReads().avoids("7", () -> "")).isFalse();
  }

  @Test
  void aPeerWhoseProbeIsLateIsAvoidedForAnotherHalfMinute() {
    register();
    reads.readFromOthers();
    reads.beLate();
    reads.timer.advanceMs(30_000);
    holdReads(1);
    assertAllDelivered(new BatchFetchFixture(reads).start(blocks).readAll());
    int before = reads.transport.reads().size();
    BatchFetchFixture next = new BatchFetchFixture(reads).start(blocks).readAll();
    assertThat(next.late).as("the probe has not ended").containsExactly(blocks);
    assertAllDelivered(next);

    reads.timer.advanceMs(51);
    held.remove().run();
    BatchFetchFixture last = new BatchFetchFixture(reads).start(blocks).readAll();
    assertThat(last.late).containsExactly(blocks);
    assertAllDelivered(last);
    assertThat(reads.transport.reads()).hasSize(before);
  }

  @Test
  void aProbeThatFailsIsNoEvidence() {
    register();
    reads.readFromOthers();
    reads.beLate();
    reads.timer.advanceMs(30_000);
    reads.transport.script((_, read) -> isData(read) ? Cause.TRANSPORT : null);
    assertAllDelivered(new BatchFetchFixture(reads).start(blocks).readAll());
    assertThat(reads.client.path.lateReads().avoids("7", () -> "")).isTrue();
  }

  /** The peer would be late again. */
  @Test
  void sparkFetchesLateBlocksWithoutARead() {
    register();
    reads.readFromOthers();
    reads.beLate();
    BatchFetchFixture task = new BatchFetchFixture(reads).start(blocks).readAll();
    TaskContextImpl context = TaskContext$.MODULE$.empty();

    ask(task, context, blocks, reads.listener);

    assertAllDelivered(task);
    reads.assertDelivered(blocks);
    assertThat(reads.transport.reads()).isEmpty();
    assertThat(reads.spark.blockIdsFetched()).containsExactly(blocks);
    assertThat(reads.fallbacks(FallbackReason.LATE)).isEqualTo(MAPS);
  }

  /** Starts a task whose second batch is late, and asks Spark's transport for its blocks. */
  private BatchFetchFixture askForLateBlocks() {
    TaskContextImpl context = TaskContext$.MODULE$.empty();
    BatchFetchFixture task = new BatchFetchFixture(reads, context, null).start(blocks);
    reads.timer.advanceMs(51);
    while (task.bySpark.isEmpty()) {
      task.readNext();
    }
    ask(task, context, second, reads.listener);
    return task;
  }

  @Test
  void theBytesOfALateReadAreTheAnswerIfTheyComeFirst() {
    register();
    reads.readFromOthers();
    holdSecondRead();
    Deque<Runnable> answers = new ArrayDeque<>();
    reads.spark.answerBy(answers::add);
    BatchFetchFixture task = askForLateBlocks();
    assertThat(reads.listener.successes()).isEmpty();

    held.remove().run();
    reads.assertDelivered(second);
    assertThat(reads.transport.buffersOut()).isZero();

    answers.forEach(Runnable::run);
    assertThat(reads.listener.repeated()).isEmpty();
    assertThat(reads.fallbacks(FallbackReason.LATE)).isZero();
    task.readAll();
    assertAllDelivered(task);
    assertThat(reads.count("read.blocks")).isEqualTo(MAPS);
    assertThat(reads.count("read.bytes")).isEqualTo(MAPS * BLOCK_BYTES);
  }

  @Test
  void sparksAnswerCountsIfItComesFirst() {
    register();
    reads.readFromOthers();
    holdSecondRead();
    BatchFetchFixture task = askForLateBlocks();
    reads.assertDelivered(second);

    held.remove().run();
    assertThat(reads.listener.repeated()).isEmpty();
    assertThat(reads.fallbacks(FallbackReason.LATE)).isEqualTo(second.length);
    task.readAll();
    assertAllDelivered(task);
    assertThat(reads.count("read.blocks")).isEqualTo(MAPS - second.length);
  }

  @Test
  void aLateReadAnswersForBlocksThatSparkCannotFetch() {
    register();
    reads.readFromOthers();
    holdSecondRead();
    reads.spark.lose(second[3]);
    BatchFetchFixture task = askForLateBlocks();
    assertThat(reads.listener.failures()).isEmpty();

    held.remove().run();
    reads.assertDelivered(second);
    task.readAll();
    assertAllDelivered(task);
  }

  @Test
  void blocksThatNeitherBringsFail() {
    register();
    reads.readFromOthers();
    holdSecondRead(Cause.TRANSPORT);
    reads.spark.lose(second[3]);
    BatchFetchFixture task = askForLateBlocks();
    assertThat(reads.listener.failures()).isEmpty();

    held.remove().run();
    assertThat(reads.listener.failures()).containsOnlyKeys(second[3]);
    task.readAll();
    assertAllDelivered(task);
  }

  /** Both readers want the same blocks, as in a cartesian product of a shuffle with itself. */
  @Test
  void requestsOfTwoReadersOfOneTaskGetTheirAnswers() {
    register();
    reads.readFromOthers();
    reads.readFromOthers(); // 2 % of both are enough for six batches.
    TaskContextImpl context = TaskContext$.MODULE$.empty();
    reads.transport.script(
        (_, read) -> {
          boolean isHeld = isData(read);
          reads.transport.holdReads(isHeld ? held::add : Runnable::run);
          return isHeld ? Cause.TRANSPORT : null;
        });
    reads.spark.lose(second[3]);
    BatchFetchFixture outer = new BatchFetchFixture(reads, context, null).start(blocks);
    BatchFetchFixture inner = new BatchFetchFixture(reads, context, null).start(blocks);
    reads.timer.advanceMs(51);
    outer.readNext();
    inner.readNext();
    RecordingListener other = new RecordingListener();
    ask(outer, context, second, reads.listener);
    ask(inner, context, second, other);
    assertThat(reads.listener.failures()).isEmpty();

    held.forEach(Runnable::run);
    assertThat(reads.listener.failures()).containsOnlyKeys(second[3]);
    assertThat(other.failures()).containsOnlyKeys(second[3]);
    outer.readAll();
    inner.readAll();
    assertAllDelivered(outer);
    assertAllDelivered(inner);
  }

  /** Asks Spark's transport for late blocks, as an iterator of the task does. */
  private void ask(
      BatchFetchFixture task, TaskContextImpl context, String[] late, RecordingListener listener) {
    reads
        .client
        .telling(task.lastAsker, context)
        .fetchBlocks("host", 99, "7", late, listener, null);
  }

  @Test
  void wrongBytesOfALateReadAreNoAnswer() {
    register();
    reads.readFromOthers();
    holdSecondRead();
    reads.spark.lose(second[3]);
    BatchFetchFixture task = askForLateBlocks();
    reads.transport.afterRead(read -> read.target().fill((byte) 1));
    held.remove().run();

    assertThat(reads.listener.failures()).containsOnlyKeys(second[3]);
    task.readAll();
    assertAllDelivered(task);
  }

  @Test
  void lateStagedBytesAreTheAnswerIfTheyComeFirst() {
    stage();
    reads.readFromOthers();
    holdReads(2);
    Deque<Runnable> answers = new ArrayDeque<>();
    reads.spark.answerBy(answers::add);
    String[] first = Arrays.copyOfRange(blocks, 0, 19);
    TaskContextImpl context = TaskContext$.MODULE$.empty();
    BatchFetchFixture task = new BatchFetchFixture(reads, context, null).start(blocks);
    reads.timer.advanceMs(51);
    readTo(38, task);
    ask(task, context, first, reads.listener);
    held.forEach(Runnable::run);

    reads.assertDelivered(first);
    assertThat(reads.count("staged.bytes")).isEqualTo(19 * BLOCK_BYTES);
    answers.forEach(Runnable::run);
    task.readAll();
    assertAllDelivered(task);
  }

  /** READs of partition tables are held, and none of batches. */
  @Test
  void blocksWhoseTableIsLateAreFetchedBySpark() {
    register();
    reads.readFromOthers();
    reads.transport.script(
        (_, read) -> {
          reads.transport.holdReads(isData(read) ? Runnable::run : held::add);
          return null;
        });
    BatchFetchFixture task = new BatchFetchFixture(reads).start(blocks);
    reads.timer.advanceMs(51);
    task.readAll();

    assertThat(task.late).containsExactly(blocks);
    assertAllDelivered(task);
    assertThat(reads.count("hedge.batches")).isOne();
    assertThat(reads.count("hedge.bytes")).isLessThan(MAPS * 100);
    held.forEach(Runnable::run);
    assertThat(reads.count("read.blocks")).isZero();
  }

  /** Spark may have 48 KB under way: two of the batches. */
  @Test
  void noMoreIsOvertakenThanSparkMayFetch() {
    register();
    reads.readFromOthers();
    holdReads(3);
    BatchFetchFixture task = new BatchFetchFixture(reads);
    task.maxBytesInFlight = 2 * 21 * BLOCK_BYTES;
    task.start(blocks);
    reads.timer.advanceMs(51);
    task.readNext();
    assertThat(reads.count("hedge.batches")).isEqualTo(2);
    held.forEach(Runnable::run);
    task.readAll();
    assertAllDelivered(task);
  }

  private void stage() {
    for (int map = 0; map < MAPS; map++) {
      reads.staged(map, 500, BLOCK_BYTES, 500);
    }
  }

  /** The READ of staged bytes ends after their lease. */
  @Test
  void bytesThatNoTaskAwaitsAreNotStagedAgain() {
    stage();
    reads.readFromOthers();
    holdSecondRead();
    BatchFetchFixture task = new BatchFetchFixture(reads).start(blocks);
    reads.timer.advanceMs(51);
    task.readAll();
    assertThat(task.late).isNotEmpty();
    int stages = reads.transport.stages().size();

    reads.timer.advanceMs(5_000);
    held.remove().run();

    assertThat(reads.transport.stages()).hasSize(stages);
    assertThat(reads.count("staged.late")).isZero();
    assertAllDelivered(task);
  }

  @Test
  void bytesThatNoTaskAwaitsAreNotVerified() {
    for (int map = 0; map < MAPS; map++) {
      reads.unverifiable(map, 500, BLOCK_BYTES, 500);
    }
    reads.readFromOthers();
    holdSecondRead();
    BatchFetchFixture task = new BatchFetchFixture(reads).start(blocks);
    reads.timer.advanceMs(51);
    task.readAll();
    assertThat(task.late).isNotEmpty();

    reads.transport.afterRead(read -> read.target().fill((byte) 1));
    held.remove().run();

    assertThat(reads.count("corruptions")).isZero();
    assertAllDelivered(task);
  }
}
