// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.fetch;

import static dev.sluice.spark.fetch.ReadFixture.batch;
import static dev.sluice.spark.fetch.ReadFixture.block;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sluice.blocks.wire.ControlMessages.NotStaged;
import dev.sluice.blocks.wire.ControlMessages.Partitions;
import dev.sluice.blocks.wire.ControlMessages.Stage;
import dev.sluice.blocks.wire.ControlMessages.Touch;
import dev.sluice.rdma.transfer.ReadException.Cause;
import dev.sluice.spark.transport.FakeTransport;
import java.lang.foreign.ValueLayout;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Small blocks of an executor come in batches or as Spark fetches them, and each once. */
@Timeout(60)
class BatchFetcherTest {
  private static final int MAPS = 100;
  private static final int BLOCK_BYTES = 3000;

  private final ReadFixture reads = new ReadFixture();
  private final String[] blocks =
      IntStream.range(0, MAPS).mapToObj(map -> block(map, 1)).toArray(String[]::new);

  private void register(int maps) {
    for (int map = 0; map < maps; map++) {
      reads.registered(map, 500, BLOCK_BYTES, 500);
    }
  }

  /** Returns a fixture with room for less than half of the blocks at a time. */
  private static ReadFixture withLittleRoom() {
    ReadFixture few = new ReadFixture(ReadFixture.OPTIONS.with(o -> o.gatherBytes = 1 << 17));
    for (int map = 0; map < MAPS; map++) {
      few.registered(map, 500, BLOCK_BYTES, 500);
    }
    return few;
  }

  /** Reads all blocks. The blocks of Spark's iterator come after the batches. */
  private BatchFetchFixture readAll() {
    BatchFetchFixture task = new BatchFetchFixture(reads).start(blocks).readAll();
    assertThat(task.delivered).containsExactlyInAnyOrder(blocks);
    assertThat(task.delivered.stream().filter(task.bySpark::contains)).isEqualTo(task.bySpark);
    task.close();
    assertThat(reads.transport.buffersOut()).isZero();
    assertThat(reads.timer.scheduled()).isZero();
    assertThat(reads.count("gathered.blocks")).isEqualTo(MAPS - task.bySpark.size());
    return task;
  }

  @Test
  void blocksComeInBatches() {
    register(MAPS);
    BatchFetchFixture task = readAll();

    assertThat(task.bySpark).isEmpty();
    // Batches have 64 KiB at most.
    assertThat(task.batches).isEqualTo(5);
    // One READ fetches the partition tables.
    assertThat(reads.transport.reads()).hasSize(6);
    assertThat(reads.transport.touched()).hasSize(6);
  }

  /**
   * Peers would consider the waiting batches idle while the task consumes others, and deregister
   * them.
   */
  @Test
  void shufflesOfWaitingBatchesAreTouched() {
    ReadFixture few = withLittleRoom();
    BatchFetchFixture task = new BatchFetchFixture(few).start(blocks);
    task.readNext();
    int touched = few.transport.touched().size();

    few.timer.advanceMs(Touch.INTERVAL_MS);
    few.timer.advanceMs(Touch.INTERVAL_MS);

    assertThat(few.transport.touched()).hasSize(touched + 2);
    task.readAll();
    few.timer.advanceMs(Touch.INTERVAL_MS);
    assertThat(few.timer.scheduled()).as("nothing waits any more").isZero();
  }

  @Test
  void aTaskThatEndsWantsNothing() {
    ReadFixture few = withLittleRoom();
    BatchFetchFixture task = new BatchFetchFixture(few).start(blocks);
    assertThat(few.timer.scheduled()).isOne();

    task.close();

    assertThat(few.timer.scheduled()).isZero();
  }

  @Test
  void metricsAreThoseOfTheSameBlocksOneByOne() {
    register(MAPS);
    BatchFetchFixture task = readAll();

    assertThat(task.metrics)
        .containsEntry("incRemoteBlocksFetched", (long) MAPS)
        .containsEntry("incRemoteBytesRead", (long) MAPS * BLOCK_BYTES)
        .containsKeys("incRemoteReqsDuration", "incFetchWaitTime")
        .doesNotContainKeys("incLocalBlocksFetched", "incLocalBytesRead", "incRecordsRead");
    assertThat(reads.count("read.blocks")).isEqualTo(MAPS);
    assertThat(reads.count("read.bytes")).isEqualTo((long) MAPS * BLOCK_BYTES);
  }

  @Test
  void partitionsThatAdjoinAreOneRange() {
    register(2);
    String[] adjoining = {block(0, 0), block(0, 1), block(0, 2), batch(1, 0, 3)};
    BatchFetchFixture task = new BatchFetchFixture(reads).start(adjoining).readAll();

    assertThat(task.delivered).containsExactlyInAnyOrder(adjoining);
    assertThat(reads.transport.reads().getLast().ranges()).hasSize(2);
  }

  @Test
  void mapOutputsThatAreNotRegisteredAreLeftToSpark() {
    register(MAPS - 10);
    for (int map = MAPS - 10; map < MAPS; map++) {
      reads.unregistered(map, 500, BLOCK_BYTES, 500);
    }
    assertThat(readAll().bySpark).containsExactly(Arrays.copyOfRange(blocks, MAPS - 10, MAPS));
  }

  /** Migrated map outputs have none, as Spark sends no checksum files. */
  @Test
  void blocksWithoutChecksumsAreStagedToHaveOne() {
    reads.register(reads.unregistered(0, 500, BLOCK_BYTES, 500).withoutChecksums());
    for (int map = 1; map < MAPS; map++) {
      reads.registered(map, 500, BLOCK_BYTES, 500);
    }
    assertThat(readAll().bySpark).isEmpty();
    assertThat(reads.transport.stages())
        .extracting(Stage::wanted)
        .containsExactly(List.of(new Partitions(0, 1, 2)));
    assertThat(reads.count("staged.bytes")).isEqualTo(BLOCK_BYTES);
    reads.assertNothingIsHeld();
  }

  /**
   * The order of arrival is: four batches, the blocks that Spark had then, and the batches that
   * came later.
   */
  @Test
  void sparksBlocksAreReadWhileBatchesAreYetToCome() {
    ReadFixture few = fewBytes();
    BatchFetchFixture task = new BatchFetchFixture(few).start(blocks).readAll();
    assertThat(task.delivered).containsExactlyInAnyOrder(blocks);
    assertThat(task.bySpark).hasSize(10);
    assertThat(task.delivered.subList(40, 50)).isEqualTo(task.bySpark);
    task.close();
    assertThat(few.transport.buffersOut()).isZero();
  }

  @Test
  void aFailedFetchIsNoticedWhileBatchesAreYetToCome() {
    BatchFetchFixture task = new BatchFetchFixture(fewBytes()).start(blocks);
    task.sparkFails = true;
    assertThatThrownBy(task::readAll).hasMessage("the fetch failed");
    assertThat(task.delivered).hasSize(40);
    task.close();
  }

  /**
   * Returns a fixture with four batches of ten blocks at a time, and ten map outputs that cannot be
   * READ.
   */
  private static ReadFixture fewBytes() {
    ReadFixture few = new ReadFixture(ReadFixture.OPTIONS.with(o -> o.gatherBytes = 1 << 17));
    for (int map = 0; map < MAPS; map++) {
      if (map < 10) {
        few.unregistered(map, 500, BLOCK_BYTES, 500);
      } else {
        few.registered(map, 500, BLOCK_BYTES, 500);
      }
    }
    return few;
  }

  /** Its batches are a quarter of the limit, and its part is a third of it when it is consumed. */
  @Test
  void aReaderThatGivesBackLateDoesNotWaitForItself() {
    register(MAPS);
    TaskReads limit = new TaskReads(1 << 16);
    BatchFetchFixture first = new BatchFetchFixture(reads, limit).start(blocks);
    List<BatchFetchFixture> idle =
        List.of(
            new BatchFetchFixture(reads, limit).start(blocks),
            new BatchFetchFixture(reads, limit).start(blocks));

    first.readAllAndCloseNothing();

    assertThat(first.delivered).containsExactlyInAnyOrder(blocks);
    assertThat(first.bySpark).isEmpty();
    first.close();
    idle.forEach(BatchFetchFixture::close);
    assertThat(reads.transport.buffersOut()).isZero();
  }

  /** Happens in a join, where all readers are made before the first one is consumed. */
  @Test
  void theReadersOfATaskShareItsLimit() {
    register(MAPS);
    TaskReads limit = new TaskReads(1 << 17);
    BatchFetchFixture first = new BatchFetchFixture(reads, limit).start(blocks);
    int alone = reads.transport.buffersOut();
    BatchFetchFixture second = new BatchFetchFixture(reads, limit).start(blocks);
    int ofTheSecond = reads.transport.buffersOut() - alone;
    assertThat(reads.transport.bytesOut()).isBetween((1 << 17) / 2L, (1 << 17) * 3L / 2);

    second.readAll(); // the idle one does not delay it
    assertThat(second.delivered).containsExactlyInAnyOrder(blocks);
    assertThat(limit.part()).as("the second reader has nothing to come").isEqualTo(limit.bytes());
    first.readAll();
    assertThat(first.delivered).containsExactlyInAnyOrder(blocks);
    assertThat(alone).isGreaterThan(1);
    assertThat(ofTheSecond).isGreaterThan(1);

    assertThat(Stream.of(first, second).flatMap(reader -> reader.bySpark.stream())).isEmpty();
    first.close();
    second.close();
    assertThat(reads.transport.buffersOut()).isZero();
  }

  /** The batch has arrived for a reader that its task reaches late. */
  @Test
  void batchesWithoutAReaderYetMakeRoomForOthers() {
    register(20);
    String[] early = Arrays.copyOfRange(blocks, 0, 10);
    String[] late = Arrays.copyOfRange(blocks, 10, 20);
    reads.transport.poolBytes(10 * BLOCK_BYTES + 2_000);
    BatchFetchFixture idle = new BatchFetchFixture(reads).start(early);
    BatchFetchFixture active = new BatchFetchFixture(reads).start(late).readAll();
    assertThat(active.delivered).containsExactlyInAnyOrder(late);
    assertThat(active.bySpark).isEmpty();
    active.close();
    idle.readAll();
    assertThat(idle.delivered).containsExactlyInAnyOrder(early);
    assertThat(idle.bySpark).isEmpty();
    idle.close();
    assertThat(reads.transport.buffersOut()).isZero();
  }

  @Test
  void anExecutorWithoutAnEndpointIsLeftToSparkFromTheStart() {
    register(MAPS);
    reads.locator.peer(null);
    BatchFetchFixture task = new BatchFetchFixture(reads).start(blocks);
    assertThat(task.bySpark).containsExactly(blocks);
  }

  @Test
  void aFailedReadLeavesItsBatchToSpark() {
    register(MAPS);
    reads.transport.script((_, read) -> isThirdBatch(read) ? Cause.TRANSPORT : null);
    assertOneBatchIsLeft(readAll());
  }

  /** Releases of buffers throw during the second READ, which is that of the first batch. */
  @Test
  void anyErrorAtTheStartOfABatchLeavesTheOthersRead() {
    register(MAPS);
    reads.transport.script(
        (number, _) -> {
          reads.transport.throwInRelease(number == 1 ? new OutOfMemoryError("scripted") : null);
          return null;
        });
    BatchFetchFixture task = new BatchFetchFixture(reads).start(blocks).readAll();
    assertThat(task.bySpark).containsExactly(Arrays.copyOf(blocks, 21));
    assertThat(task.delivered).containsExactlyInAnyOrder(blocks);
    task.close();
  }

  /** There is no memory for the batch's objects at first, but later there is. */
  @Test
  void anyErrorBeforeTheStartOfABatchLeavesAllRead() {
    register(MAPS);
    reads.transport.afterRead(
        read -> {
          if (read.bytes() % BLOCK_BYTES != 0) {
            reads.timer.throwOnce(new OutOfMemoryError("scripted"));
          }
        });
    assertThat(readAll().bySpark).isEmpty();
  }

  /** The task has one batch, and room for the next when it releases that one. */
  @Test
  void errorsOnTheTasksThreadEndTheTask() {
    ReadFixture small = new ReadFixture(ReadFixture.OPTIONS.with(o -> o.gatherBytes = 40_000));
    for (int map = 0; map < MAPS; map++) {
      small.registered(map, 500, BLOCK_BYTES, 500);
    }
    BatchFetchFixture task = new BatchFetchFixture(small).start(blocks);
    small.timer.throwOnce(new OutOfMemoryError("scripted"));
    assertThatThrownBy(task::readAll).hasMessage("scripted");
    task.close();
    assertThat(small.transport.buffersOut()).isZero();
  }

  /** The task must not end as if it had read everything, whatever defect loses the batch. */
  @Test
  void aBatchThatGetsLostFailsTheTask() {
    register(MAPS);
    BatchFetchFixture task =
        new BatchFetchFixture(reads, BatchFetcherTest::losingOne, null).start(blocks);
    assertThatThrownBy(task::readAll).hasMessageContaining("not every block of BlockManagerId(7");
    assertThat(task.delivered).hasSize(MAPS - 21);
    task.close();
  }

  /** Loses the first batch that arrives. */
  private static RemoteBatches losingOne(RemoteBatches batches) {
    AtomicBoolean lost = new AtomicBoolean();
    return (RemoteBatches)
        Proxy.newProxyInstance(
            BatchFetcherTest.class.getClassLoader(),
            new Class<?>[] {RemoteBatches.class},
            (_, method, arguments) -> {
              Object result = method.invoke(batches, arguments);
              if (result instanceof FetchedBatch batch && lost.compareAndSet(false, true)) {
                batch.release();
                return batches.poll();
              }
              return result;
            });
  }

  @Test
  void wrongBytesLeaveTheirBatchToSpark() {
    register(MAPS);
    reads.transport.afterRead(
        read -> {
          if (isThirdBatch(read)) {
            corrupt(read);
          }
        });
    assertOneBatchIsLeft(readAll());
    assertThat(reads.count("corruptions")).isEqualTo(1);
  }

  /** The task does not wait for other batches first. */
  @Test
  void wrongBytesAreFetchedBySparkWhileABatchIsUnderWay() throws InterruptedException {
    String[] two = Arrays.copyOf(blocks, 42);
    register(two.length);
    List<Runnable> held = new ArrayList<>();
    reads.transport.script(
        (_, read) -> {
          reads.transport.holdReads(read.bytes() % BLOCK_BYTES == 0 ? held::add : Runnable::run);
          return null;
        });
    BatchFetchFixture task = new BatchFetchFixture(reads).start(two);
    Thread waiting = Thread.ofPlatform().daemon().start(task::readNext);
    while (waiting.getState() != Thread.State.TIMED_WAITING) {
      Thread.onSpinWait();
    }

    reads.transport.afterRead(BatchFetcherTest::corrupt);
    held.getFirst().run();

    assertThat(waiting.join(Duration.ofSeconds(10))).isTrue();
    assertThat(task.delivered).containsExactly(blocks[0]);
    reads.transport.afterRead(_ -> {});
    held.getLast().run();
    task.readAll();
    assertThat(task.bySpark).containsExactly(Arrays.copyOf(blocks, 21));
    assertThat(task.delivered).containsExactlyInAnyOrder(two);
    task.close();
    assertThat(reads.transport.buffersOut()).isZero();
  }

  private static void corrupt(FakeTransport.Read read) {
    long middle = read.bytes() / 2;
    byte written = read.target().get(ValueLayout.JAVA_BYTE, middle);
    read.target().set(ValueLayout.JAVA_BYTE, middle, (byte) ~written);
  }

  @Test
  void aStaleLocationIsNotUsedAgain() {
    register(MAPS);
    reads.transport.script((_, read) -> isThirdBatch(read) ? Cause.STALE_LOCATION : null);
    assertOneBatchIsLeft(readAll());
    assertThat(reads.locator.invalidated()).hasSize(21);
  }

  @Test
  void staleTablesAreNotReadAgain() {
    register(MAPS);
    reads.transport.script((number, _) -> number == 0 ? Cause.STALE_LOCATION : null);
    assertThat(readAll().bySpark).containsExactly(blocks);
    assertThat(reads.locator.invalidated()).hasSize(MAPS);
  }

  private final List<FakeTransport.Read> dataReads = new ArrayList<>();

  private boolean isThirdBatch(FakeTransport.Read read) {
    if (read.bytes() % BLOCK_BYTES == 0 && !dataReads.contains(read)) {
      dataReads.add(read);
    }
    return dataReads.size() == 3 && dataReads.getLast().equals(read);
  }

  private void assertOneBatchIsLeft(BatchFetchFixture task) {
    // 21 blocks fit into 64 KiB.
    assertThat(task.bySpark).containsExactly(Arrays.copyOfRange(blocks, 42, 63));
    assertThat(task.batches).isEqualTo(4);
  }

  @Test
  void tablesThatCannotBeReadLeaveAllToSpark() {
    register(MAPS);
    reads.transport.script((number, _) -> number < 2 ? Cause.CONNECT : null);
    assertThat(readAll().bySpark).containsExactly(blocks);
  }

  @Test
  void batchesWithoutABufferAreLeftToSpark() {
    register(MAPS);
    reads.transport.poolBytes(50_000); // less than 21 blocks, and more than 16
    BatchFetchFixture task = readAll();
    assertThat(task.bySpark).containsExactly(Arrays.copyOfRange(blocks, 0, 84));
    assertThat(task.batches).isEqualTo(1);
  }

  @Test
  void locationsThatNeverComeLeaveAllToSparkAtTheDeadline() {
    register(MAPS);
    reads.locator.silence();
    BatchFetchFixture task = new BatchFetchFixture(reads).start(blocks);
    reads.timer.advanceMs(ReadFixture.OPTIONS.readTimeoutMs());
    task.readAll();
    assertThat(task.bySpark).containsExactly(blocks);
    assertThat(reads.timer.scheduled()).isZero();
  }

  @Test
  void batchesAfterTheDeadlineAreNotDelivered() {
    register(MAPS);
    List<Runnable> held = new ArrayList<>();
    BatchFetchFixture task = new BatchFetchFixture(reads);
    reads.transport.script(
        (_, read) -> {
          reads.transport.holdReads(isThirdBatch(read) ? held::add : Runnable::run);
          return null;
        });
    task.start(blocks);
    reads.timer.advanceMs(ReadFixture.OPTIONS.readTimeoutMs());
    task.readAll();
    assertThat(reads.transport.buffersOut()).isEqualTo(1);
    held.forEach(Runnable::run);
    assertOneBatchIsLeft(task);
    assertThat(task.delivered).containsExactlyInAnyOrder(blocks);
    assertThat(reads.transport.buffersOut()).isZero();
  }

  @Test
  void moreIsReadOnlyWhenSomethingWasConsumed() {
    ReadFixture small = new ReadFixture(ReadFixture.OPTIONS.with(o -> o.gatherBytes = 40_000));
    for (int map = 0; map < MAPS; map++) {
      small.registered(map, 500, BLOCK_BYTES, 500);
    }
    BatchFetchFixture task = new BatchFetchFixture(small).start(blocks);

    // Four batches of three blocks.
    assertThat(small.transport.buffersOut()).isEqualTo(4);
    task.readAll();
    assertThat(task.delivered).containsExactlyInAnyOrder(blocks);
    assertThat(task.batches).isEqualTo(34);
    assertThat(small.transport.buffersOut()).isZero();
  }

  @Test
  void aTaskThatEndsEarlyReleasesPresentAndLaterBatches() {
    register(MAPS);
    List<Runnable> held = new ArrayList<>();
    reads.transport.script(
        (_, read) -> {
          reads.transport.holdReads(isThirdBatch(read) ? held::add : Runnable::run);
          return null;
        });
    BatchFetchFixture task = new BatchFetchFixture(reads).start(blocks);
    assertThat(task.readNext()).isTrue();
    assertThat(task.hasNext()).isTrue();

    task.close();
    assertThat(reads.transport.buffersOut()).isEqualTo(1);
    held.forEach(Runnable::run);

    assertThat(reads.transport.buffersOut()).isZero();
    assertThat(reads.timer.scheduled()).isZero();
    assertThat(reads.count("read.blocks")).isEqualTo(MAPS - 21);
    assertThat(task.bySpark).isEmpty();
  }

  @Test
  void aBlockLongerThanABatchIsABatch() {
    register(MAPS - 1);
    reads.registered(MAPS - 1, 0, 100_000, 0);
    BatchFetchFixture task = readAll();
    assertThat(task.bySpark).isEmpty();
    assertThat(task.batches).isEqualTo(6);
  }

  @Test
  void aBlockLongerThanHalfABufferIsLeftToSpark() {
    register(MAPS - 1);
    reads.registered(MAPS - 1, 0, 100_000, 0);
    reads.transport.maxBufferBytes(199_998);
    assertThat(readAll().bySpark).containsExactly(block(MAPS - 1, 1));
  }

  @Test
  void blocksThatMostlyAreTooLongAreLeftToSparkFromTheStart() {
    int[] lengths = Arrays.copyOf(new int[] {500, BLOCK_BYTES, 500}, 40); // Their tables fit.
    for (int map = 0; map < MAPS; map++) {
      reads.registered(map, lengths);
    }
    reads.transport.maxBufferBytes(4 * BLOCK_BYTES - 1);
    BatchFetchFixture task = new BatchFetchFixture(reads).start(blocks);
    assertThat(task.bySpark).containsExactly(blocks);

    reads.transport.maxBufferBytes(4 * BLOCK_BYTES);
    assertThat(readAll().bySpark).isEmpty();
  }

  @Test
  void stagedBlocksAreGatheredWithTheOthers() {
    registerOneOf(10);
    BatchFetchFixture task = readAll();

    assertThat(task.bySpark).isEmpty();
    assertThat(task.batches)
        .as("one batch of registered blocks, and five of staged ones")
        .isEqualTo(6);
    assertThat(reads.count("staged.bytes")).isEqualTo(90L * BLOCK_BYTES);
    reads.assertNothingIsHeld();
  }

  /** The peer's process hangs, while its device works. */
  @Test
  void registeredBlocksAreGatheredBeforeStagedOnesArrive() {
    registerOneOf(10);
    Deque<Runnable> answers = new ArrayDeque<>();
    reads.transport.holdStages(answers::add);
    BatchFetchFixture task = new BatchFetchFixture(reads).start(blocks);
    assertThat(reads.transport.reads()).as("READs of tables and of blocks").hasSize(2);
    assertThat(task.readNext()).isTrue();
    assertThat(task.delivered).hasSize(10);

    while (!answers.isEmpty()) {
      answers.remove().run();
    }

    assertThat(task.readAll().bySpark).isEmpty();
    assertThat(task.delivered).containsExactlyInAnyOrder(blocks);
    task.close();
    reads.assertNothingIsHeld();
  }

  /** The staged ones are two batches, which are asked for at the same time. */
  @Test
  void registeredBlocksAreGatheredIfStagedOnesNeverArrive() {
    registerOneOf(2);
    String[] some = Arrays.copyOf(blocks, 60);
    List<Runnable> answers = new ArrayList<>();
    reads.transport.holdStages(answers::add);
    BatchFetchFixture task = new BatchFetchFixture(reads).start(some);
    reads.timer.advanceMs(ReadFixture.OPTIONS.readTimeoutMs());
    task.readAll();
    assertThat(answers).hasSize(2);
    answers.forEach(Runnable::run);

    assertThat(task.bySpark).hasSize(some.length / 2);
    assertThat(task.delivered).containsExactlyInAnyOrder(some);
    task.close();
    reads.assertNothingIsHeld();
  }

  @Test
  void stagedBlocksWithoutChecksumsAreVerifiedByTheirPeers() {
    stageUnverifiable();
    reads.transport.afterRead(
        read -> {
          if (isThirdBatch(read)) {
            corrupt(read);
          }
        });
    assertThat(readAll().bySpark).as("the corrupt batch is asked for again").isEmpty();
    assertThat(reads.transport.stages()).as("six batches, and one of them again").hasSize(7);
    assertThat(reads.count("corruptions")).isEqualTo(1);
    reads.assertNothingIsHeld();
  }

  @Test
  void aBlockLargerThanTheStagingLimitIsStagedInParts() {
    ReadFixture parts = new ReadFixture(ReadFixture.OPTIONS.with(o -> o.maxStagedBytes = 1999));
    parts.staged(0, 500, BLOCK_BYTES, 500);
    parts.unverifiable(1, 500, 2 * BLOCK_BYTES, 500);
    parts.registered(2, 500, BLOCK_BYTES, 500);
    parts.transport.afterRead(
        read -> {
          if (parts.transport.reads().size() == 6) {
            corrupt(read);
          }
        });
    BatchFetchFixture task =
        new BatchFetchFixture(parts).start(block(0, 1), block(1, 1), block(2, 1));
    task.readAll();

    assertThat(task.bySpark).isEmpty();
    assertThat(task.delivered).containsExactlyInAnyOrder(block(0, 1), block(1, 1), block(2, 1));
    assertThat(parts.transport.stages())
        .filteredOn(stage -> stage.wanted().getFirst().mapId() == 1)
        .as("its length, and its parts, of which one arrived corrupt")
        .extracting(Stage::position)
        .containsExactly(0L, 0L, 1999L, 1999L, 3998L, 5997L);
    assertThat(parts.count("corruptions")).isEqualTo(1);
    task.close();
    parts.assertNothingIsHeld();
  }

  @Test
  void aTaskThatEndsHasNoMorePartsStaged() {
    ReadFixture parts = new ReadFixture(ReadFixture.OPTIONS.with(o -> o.maxStagedBytes = 1999));
    parts.staged(0, 500, 2 * BLOCK_BYTES, 500);
    Deque<Runnable> answers = new ArrayDeque<>();
    parts.transport.holdStages(answers::add);
    BatchFetchFixture task = new BatchFetchFixture(parts).start(block(0, 1));
    task.close();
    answers.remove().run();

    assertThat(parts.transport.stages()).hasSize(1);
    parts.assertNothingIsHeld();
  }

  @Test
  void aBlockOfManyPartsIsLeftToSpark() {
    ReadFixture parts = new ReadFixture(ReadFixture.OPTIONS.with(o -> o.maxStagedBytes = 1000));
    parts.staged(0, 500, 4000, 500);
    parts.staged(1, 500, 4001, 500);
    BatchFetchFixture task = new BatchFetchFixture(parts).start(block(0, 1), block(1, 1)).readAll();

    assertThat(task.bySpark).containsExactly(block(1, 1));
    assertThat(task.delivered).containsExactlyInAnyOrder(block(0, 1), block(1, 1));
    task.close();
    parts.assertNothingIsHeld();
  }

  @Test
  void aBatchThatIsNotStagedIsLeftToSpark() {
    stageUnverifiable();
    reads.stager.answers(
        answer ->
            reads.transport.stages().size() == 3 ? new NotStaged(false, "no memory") : answer);
    BatchFetchFixture task = readAll();
    // 19 blocks of the mean size and an eighth more fit into 64 KiB.
    assertThat(task.bySpark).containsExactly(Arrays.copyOfRange(blocks, 38, 57));
    assertThat(task.batches).isEqualTo(5);
    reads.assertNothingIsHeld();
  }

  /** Registers every nth map output. The others are staged. */
  private void registerOneOf(int nth) {
    for (int map = 0; map < MAPS; map++) {
      int[] lengths = {500, BLOCK_BYTES, 500};
      if (map % nth == 0) {
        reads.registered(map, lengths);
      } else {
        reads.staged(map, lengths);
      }
    }
  }

  private void stageUnverifiable() {
    for (int map = 0; map < MAPS; map++) {
      reads.unverifiable(map, 500, BLOCK_BYTES, 500);
    }
  }

  /** Batches have 63,000 bytes. A peer may have two of them staged, all peers ten. */
  @Test
  void aTaskThatEndsGivesBackItsStagingRequestsInAnyState() {
    for (int ended = 0; ended < 12; ended++) {
      Deque<Runnable> steps = new ArrayDeque<>();
      ReadFixture held = new ReadFixture(ReadFixture.OPTIONS, steps::add, 1 << 20);
      for (int map = 0; map < MAPS; map++) {
        held.unverifiable(map, 500, BLOCK_BYTES, 500);
      }
      BatchFetchFixture task = new BatchFetchFixture(held).start(blocks);
      for (int step = 0; step < ended; step++) {
        assertThat(steps).as("the task ends after step %d", ended).isNotEmpty();
        steps.removeFirst().run();
        assertThat(held.client.path.budget().stagedBytes()).isLessThanOrEqualTo((1 << 20) / 8);
      }

      task.close();
      while (!steps.isEmpty()) {
        steps.removeFirst().run();
      }

      held.assertNothingIsHeld();
      assertThat(task.delivered).isEmpty();
    }
  }

  @Test
  void aTaskAsksAPeerForTwoBatchesAtATime() {
    List<Runnable> stages = new ArrayList<>();
    reads.transport.holdStages(stages::add);
    stageUnverifiable();
    BatchFetchFixture task = new BatchFetchFixture(reads).start(blocks);
    assertThat(stages).hasSize(2);

    stages.getFirst().run();
    assertThat(stages).as("before the first is consumed").hasSize(3);

    reads.transport.holdStages(Runnable::run);
    stages.subList(1, 3).forEach(Runnable::run);
    assertThat(task.readAll().bySpark).isEmpty();
    assertThat(task.delivered).containsExactlyInAnyOrder(blocks);
    task.close();
    reads.assertNothingIsHeld();
  }

  @Test
  void aBatchThatWaitsForItsPeerIsLeftToSparkAtTheDeadline() {
    ReadFixture held = new ReadFixture(ReadFixture.OPTIONS, Runnable::run, 1 << 20);
    List<Runnable> stages = new ArrayList<>();
    held.transport.holdStages(stages::add);
    for (int map = 0; map < MAPS; map++) {
      held.staged(map, 500, BLOCK_BYTES, 500);
    }
    BatchFetchFixture other = new BatchFetchFixture(held).start(blocks);
    String[] oneBatch = Arrays.copyOf(blocks, 20);
    BatchFetchFixture task = new BatchFetchFixture(held).start(oneBatch);
    assertThat(stages).as("an eighth of the pool").hasSize(2);

    held.timer.advanceMs(ReadFixture.OPTIONS.readTimeoutMs());
    task.readAll();
    assertThat(task.bySpark).containsExactlyInAnyOrder(oneBatch);
    other.close();
    stages.forEach(Runnable::run);

    assertThat(task.delivered).containsExactlyInAnyOrder(oneBatch);
    task.close();
    held.assertNothingIsHeld();
  }
}
