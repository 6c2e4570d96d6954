package dev.sluice.spark.read;

import static dev.sluice.spark.read.ReadFixture.batch;
import static dev.sluice.spark.read.ReadFixture.block;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sluice.blocks.wire.ControlMessages.NotStaged;
import dev.sluice.blocks.wire.ControlMessages.Piece;
import dev.sluice.blocks.wire.ControlMessages.Stage;
import dev.sluice.blocks.wire.ControlMessages.Touch;
import dev.sluice.rdma.transfer.ReadException.Cause;
import dev.sluice.spark.gather.Chunk;
import dev.sluice.spark.gather.RemoteChunks;
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
class TaskGatherTest {
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

  /** Reads all blocks. The blocks of Spark's iterator come after the chunks. */
  private GatherFixture readAll() {
    GatherFixture task = new GatherFixture(reads).start(blocks).readAll();
    assertThat(task.delivered).containsExactlyInAnyOrder(blocks);
    assertThat(task.delivered.stream().filter(task.bySpark::contains)).isEqualTo(task.bySpark);
    task.close();
    assertThat(reads.transport.buffersOut()).isZero();
    assertThat(reads.timer.scheduled()).isZero();
    assertThat(reads.count("gathered.blocks")).isEqualTo(MAPS - task.bySpark.size());
    return task;
  }

  @Test
  void blocksComeInChunks() {
    register(MAPS);
    GatherFixture task = readAll();

    assertThat(task.bySpark).isEmpty();
    // Chunks have 64 KiB at most.
    assertThat(task.chunks).isEqualTo(5);
    // One READ fetches the partition tables.
    assertThat(reads.transport.reads()).hasSize(6);
    assertThat(reads.transport.touched()).hasSize(6);
  }

  /**
   * Peers would consider the waiting chunks idle while the task consumes others, and deregister
   * them.
   */
  @Test
  void shufflesOfWaitingChunksAreTouched() {
    ReadFixture few = withLittleRoom();
    GatherFixture task = new GatherFixture(few).start(blocks);
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
    GatherFixture task = new GatherFixture(few).start(blocks);
    assertThat(few.timer.scheduled()).isOne();

    task.close();

    assertThat(few.timer.scheduled()).isZero();
  }

  @Test
  void metricsAreThoseOfTheSameBlocksOneByOne() {
    register(MAPS);
    GatherFixture task = readAll();

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
    GatherFixture task = new GatherFixture(reads).start(adjoining).readAll();

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
        .extracting(Stage::pieces)
        .containsExactly(List.of(new Piece(0, 500, BLOCK_BYTES)));
    assertThat(reads.count("staged.bytes")).isEqualTo(BLOCK_BYTES);
    reads.assertNothingIsHeld();
  }

  /**
   * The order of arrival is: four chunks, the blocks that Spark had then, and the chunks that came
   * later.
   */
  @Test
  void sparksBlocksAreReadWhileChunksAreYetToCome() {
    ReadFixture few = fewBytes();
    GatherFixture task = new GatherFixture(few).start(blocks).readAll();
    assertThat(task.delivered).containsExactlyInAnyOrder(blocks);
    assertThat(task.bySpark).hasSize(10);
    assertThat(task.delivered.subList(40, 50)).isEqualTo(task.bySpark);
    task.close();
    assertThat(few.transport.buffersOut()).isZero();
  }

  @Test
  void aFailedFetchIsNoticedWhileChunksAreYetToCome() {
    GatherFixture task = new GatherFixture(fewBytes()).start(blocks);
    task.sparkFails = true;
    assertThatThrownBy(task::readAll).hasMessage("the fetch failed");
    assertThat(task.delivered).hasSize(40);
    task.close();
  }

  /**
   * Returns a fixture with four chunks of ten blocks at a time, and ten map outputs that cannot be
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

  /** Its chunks are a quarter of the limit, and its part is a third of it when it is consumed. */
  @Test
  void aReaderThatGivesBackLateDoesNotWaitForItself() {
    register(MAPS);
    TaskReads limit = new TaskReads(1 << 16);
    GatherFixture first = new GatherFixture(reads, limit).start(blocks);
    List<GatherFixture> idle =
        List.of(
            new GatherFixture(reads, limit).start(blocks),
            new GatherFixture(reads, limit).start(blocks));

    first.readAllAndCloseNothing();

    assertThat(first.delivered).containsExactlyInAnyOrder(blocks);
    assertThat(first.bySpark).isEmpty();
    first.close();
    idle.forEach(GatherFixture::close);
    assertThat(reads.transport.buffersOut()).isZero();
  }

  /** Happens in a join, where all readers are made before the first one is consumed. */
  @Test
  void theReadersOfATaskShareItsLimit() {
    register(MAPS);
    TaskReads limit = new TaskReads(1 << 17);
    GatherFixture first = new GatherFixture(reads, limit).start(blocks);
    int alone = reads.transport.buffersOut();
    GatherFixture second = new GatherFixture(reads, limit).start(blocks);
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

  /** The chunk has arrived for a reader that its task reaches late. */
  @Test
  void chunksWithoutAReaderYetMakeRoomForOthers() {
    register(20);
    String[] early = Arrays.copyOfRange(blocks, 0, 10);
    String[] late = Arrays.copyOfRange(blocks, 10, 20);
    reads.transport.poolBytes(10 * BLOCK_BYTES + 2_000);
    GatherFixture idle = new GatherFixture(reads).start(early);
    GatherFixture active = new GatherFixture(reads).start(late).readAll();
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
    GatherFixture task = new GatherFixture(reads).start(blocks);
    assertThat(task.bySpark).containsExactly(blocks);
  }

  @Test
  void aFailedReadLeavesItsChunkToSpark() {
    register(MAPS);
    reads.transport.script((_, read) -> isThirdChunk(read) ? Cause.TRANSPORT : null);
    assertOneChunkIsLeft(readAll());
  }

  /** Releases of buffers throw during the second READ, which is that of the first chunk. */
  @Test
  void anyErrorAtTheStartOfAChunkLeavesTheOthersRead() {
    register(MAPS);
    reads.transport.script(
        (number, _) -> {
          reads.transport.throwInRelease(number == 1 ? new OutOfMemoryError("scripted") : null);
          return null;
        });
    GatherFixture task = new GatherFixture(reads).start(blocks).readAll();
    assertThat(task.bySpark).containsExactly(Arrays.copyOf(blocks, 21));
    assertThat(task.delivered).containsExactlyInAnyOrder(blocks);
    task.close();
  }

  /** There is no memory for the chunk's objects at first, but later there is. */
  @Test
  void anyErrorBeforeTheStartOfAChunkLeavesAllRead() {
    register(MAPS);
    reads.transport.afterRead(
        read -> {
          if (read.bytes() % BLOCK_BYTES != 0) {
            reads.timer.throwOnce(new OutOfMemoryError("scripted"));
          }
        });
    assertThat(readAll().bySpark).isEmpty();
  }

  /** The task has one chunk, and room for the next when it releases that one. */
  @Test
  void errorsOnTheTasksThreadEndTheTask() {
    ReadFixture small = new ReadFixture(ReadFixture.OPTIONS.with(o -> o.gatherBytes = 40_000));
    for (int map = 0; map < MAPS; map++) {
      small.registered(map, 500, BLOCK_BYTES, 500);
    }
    GatherFixture task = new GatherFixture(small).start(blocks);
    small.timer.throwOnce(new OutOfMemoryError("scripted"));
    assertThatThrownBy(task::readAll).hasMessage("scripted");
    task.close();
    assertThat(small.transport.buffersOut()).isZero();
  }

  /** The task must not end as if it had read everything, whatever defect loses the chunk. */
  @Test
  void aChunkThatGetsLostFailsTheTask() {
    register(MAPS);
    GatherFixture task = new GatherFixture(reads, TaskGatherTest::losingOne, null).start(blocks);
    assertThatThrownBy(task::readAll).hasMessageContaining("not every block of BlockManagerId(7");
    assertThat(task.delivered).hasSize(MAPS - 21);
    task.close();
  }

  /** Loses the first chunk that arrives. */
  private static RemoteChunks losingOne(RemoteChunks chunks) {
    AtomicBoolean lost = new AtomicBoolean();
    return (RemoteChunks)
        Proxy.newProxyInstance(
            TaskGatherTest.class.getClassLoader(),
            new Class<?>[] {RemoteChunks.class},
            (_, method, arguments) -> {
              Object result = method.invoke(chunks, arguments);
              if (result instanceof Chunk chunk && lost.compareAndSet(false, true)) {
                chunk.release();
                return chunks.poll();
              }
              return result;
            });
  }

  @Test
  void wrongBytesLeaveTheirChunkToSpark() {
    register(MAPS);
    reads.transport.afterRead(
        read -> {
          if (isThirdChunk(read)) {
            corrupt(read);
          }
        });
    assertOneChunkIsLeft(readAll());
    assertThat(reads.count("corruptions")).isEqualTo(1);
  }

  /** The task does not wait for other chunks first. */
  @Test
  void wrongBytesAreFetchedBySparkWhileAChunkIsUnderWay() throws InterruptedException {
    String[] two = Arrays.copyOf(blocks, 42);
    register(two.length);
    List<Runnable> held = new ArrayList<>();
    reads.transport.script(
        (_, read) -> {
          reads.transport.holdReads(read.bytes() % BLOCK_BYTES == 0 ? held::add : Runnable::run);
          return null;
        });
    GatherFixture task = new GatherFixture(reads).start(two);
    Thread waiting = Thread.ofPlatform().daemon().start(task::readNext);
    while (waiting.getState() != Thread.State.TIMED_WAITING) {
      Thread.onSpinWait();
    }

    reads.transport.afterRead(TaskGatherTest::corrupt);
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
    reads.transport.script((_, read) -> isThirdChunk(read) ? Cause.STALE_LOCATION : null);
    assertOneChunkIsLeft(readAll());
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

  private boolean isThirdChunk(FakeTransport.Read read) {
    if (read.bytes() % BLOCK_BYTES == 0 && !dataReads.contains(read)) {
      dataReads.add(read);
    }
    return dataReads.size() == 3 && dataReads.getLast().equals(read);
  }

  private void assertOneChunkIsLeft(GatherFixture task) {
    // 21 blocks fit into 64 KiB.
    assertThat(task.bySpark).containsExactly(Arrays.copyOfRange(blocks, 42, 63));
    assertThat(task.chunks).isEqualTo(4);
  }

  @Test
  void tablesThatCannotBeReadLeaveAllToSpark() {
    register(MAPS);
    reads.transport.script((number, _) -> number < 2 ? Cause.CONNECT : null);
    assertThat(readAll().bySpark).containsExactly(blocks);
  }

  @Test
  void chunksWithoutABufferAreLeftToSpark() {
    register(MAPS);
    reads.transport.poolBytes(50_000); // less than 21 blocks, and more than 16
    GatherFixture task = readAll();
    assertThat(task.bySpark).containsExactly(Arrays.copyOfRange(blocks, 0, 84));
    assertThat(task.chunks).isEqualTo(1);
  }

  @Test
  void locationsThatNeverComeLeaveAllToSparkAtTheDeadline() {
    register(MAPS);
    reads.locator.silence();
    GatherFixture task = new GatherFixture(reads).start(blocks);
    reads.timer.advanceMs(ReadFixture.OPTIONS.readTimeoutMs());
    task.readAll();
    assertThat(task.bySpark).containsExactly(blocks);
    assertThat(reads.timer.scheduled()).isZero();
  }

  @Test
  void chunksAfterTheDeadlineAreNotDelivered() {
    register(MAPS);
    List<Runnable> held = new ArrayList<>();
    GatherFixture task = new GatherFixture(reads);
    reads.transport.script(
        (_, read) -> {
          reads.transport.holdReads(isThirdChunk(read) ? held::add : Runnable::run);
          return null;
        });
    task.start(blocks);
    reads.timer.advanceMs(ReadFixture.OPTIONS.readTimeoutMs());
    task.readAll();
    assertThat(reads.transport.buffersOut()).isEqualTo(1);
    held.forEach(Runnable::run);
    assertOneChunkIsLeft(task);
    assertThat(task.delivered).containsExactlyInAnyOrder(blocks);
    assertThat(reads.transport.buffersOut()).isZero();
  }

  @Test
  void moreIsReadOnlyWhenSomethingWasConsumed() {
    ReadFixture small = new ReadFixture(ReadFixture.OPTIONS.with(o -> o.gatherBytes = 40_000));
    for (int map = 0; map < MAPS; map++) {
      small.registered(map, 500, BLOCK_BYTES, 500);
    }
    GatherFixture task = new GatherFixture(small).start(blocks);

    // Four chunks of three blocks.
    assertThat(small.transport.buffersOut()).isEqualTo(4);
    task.readAll();
    assertThat(task.delivered).containsExactlyInAnyOrder(blocks);
    assertThat(task.chunks).isEqualTo(34);
    assertThat(small.transport.buffersOut()).isZero();
  }

  @Test
  void aTaskThatEndsEarlyReleasesPresentAndLaterChunks() {
    register(MAPS);
    List<Runnable> held = new ArrayList<>();
    reads.transport.script(
        (_, read) -> {
          reads.transport.holdReads(isThirdChunk(read) ? held::add : Runnable::run);
          return null;
        });
    GatherFixture task = new GatherFixture(reads).start(blocks);
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
  void aBlockLongerThanAChunkIsAChunk() {
    register(MAPS - 1);
    reads.registered(MAPS - 1, 0, 100_000, 0);
    GatherFixture task = readAll();
    assertThat(task.bySpark).isEmpty();
    assertThat(task.chunks).isEqualTo(6);
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
    GatherFixture task = new GatherFixture(reads).start(blocks);
    assertThat(task.bySpark).containsExactly(blocks);

    reads.transport.maxBufferBytes(4 * BLOCK_BYTES);
    assertThat(readAll().bySpark).isEmpty();
  }

  @Test
  void stagedBlocksAreGatheredWithTheOthers() {
    registerOneOf(10);
    GatherFixture task = readAll();

    assertThat(task.bySpark).isEmpty();
    assertThat(task.chunks)
        .as("one chunk of registered blocks, and five of staged ones")
        .isEqualTo(6);
    assertThat(reads.count("staged.bytes")).isEqualTo(90L * BLOCK_BYTES);
    reads.assertNothingIsHeld();
  }

  /** The peer's process hangs, while its device works. */
  @Test
  void registeredBlocksAreGatheredBeforeTablesOfStagedOnesArrive() {
    registerOneOf(10);
    List<Runnable> answers = new ArrayList<>();
    reads.transport.holdTables(answers::add);
    GatherFixture task = new GatherFixture(reads).start(blocks);
    assertThat(reads.transport.reads()).as("READs of tables and of blocks").hasSize(2);
    assertThat(task.readNext()).isTrue();
    assertThat(task.delivered).hasSize(10);

    answers.forEach(Runnable::run);

    assertThat(task.readAll().bySpark).isEmpty();
    assertThat(task.delivered).containsExactlyInAnyOrder(blocks);
    task.close();
    reads.assertNothingIsHeld();
  }

  @Test
  void registeredBlocksAreGatheredIfTablesOfStagedOnesNeverArrive() {
    registerOneOf(2);
    List<Runnable> answers = new ArrayList<>();
    reads.transport.holdTables(answers::add);
    GatherFixture task = new GatherFixture(reads).start(blocks);
    reads.timer.advanceMs(ReadFixture.OPTIONS.readTimeoutMs());
    task.readAll();
    answers.forEach(Runnable::run);

    assertThat(task.bySpark).hasSize(MAPS / 2);
    assertThat(task.delivered).containsExactlyInAnyOrder(blocks);
    task.close();
    reads.assertNothingIsHeld();
  }

  @Test
  void stagedBlocksWithoutChecksumsAreVerifiedByTheirPeers() {
    stageUnverifiable();
    reads.transport.afterRead(
        read -> {
          if (isThirdChunk(read)) {
            corrupt(read);
          }
        });
    assertThat(readAll().bySpark).as("the corrupt chunk is asked for again").isEmpty();
    assertThat(reads.transport.stages()).hasSize(6);
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
    GatherFixture task = new GatherFixture(parts).start(block(0, 1), block(1, 1), block(2, 1));
    task.readAll();

    assertThat(task.bySpark).isEmpty();
    assertThat(task.delivered).containsExactlyInAnyOrder(block(0, 1), block(1, 1), block(2, 1));
    assertThat(parts.transport.stages().stream().flatMap(stage -> stage.pieces().stream()))
        .filteredOn(piece -> piece.mapId() == 1)
        .as("one of the parts arrived corrupt")
        .extracting(Piece::length)
        .containsExactly(1500, 1500, 1500, 1500, 1500);
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
    GatherFixture task = new GatherFixture(parts).start(block(0, 1));
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
    GatherFixture task = new GatherFixture(parts).start(block(0, 1), block(1, 1)).readAll();

    assertThat(task.bySpark).containsExactly(block(1, 1));
    assertThat(task.delivered).containsExactlyInAnyOrder(block(0, 1), block(1, 1));
    task.close();
    parts.assertNothingIsHeld();
  }

  @Test
  void aChunkThatIsNotStagedIsLeftToSpark() {
    stageUnverifiable();
    reads.stager.answers(
        answer ->
            reads.transport.stages().size() == 3 ? new NotStaged(false, "no memory") : answer);
    assertOneChunkIsLeft(readAll());
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

  /** Chunks have 63,000 bytes. A peer may have two of them staged, all peers ten. */
  @Test
  void aTaskThatEndsGivesBackItsStagingRequestsInAnyState() {
    for (int ended = 0; ended < 12; ended++) {
      Deque<Runnable> steps = new ArrayDeque<>();
      ReadFixture held = new ReadFixture(ReadFixture.OPTIONS, steps::add, 1 << 20);
      for (int map = 0; map < MAPS; map++) {
        held.unverifiable(map, 500, BLOCK_BYTES, 500);
      }
      GatherFixture task = new GatherFixture(held).start(blocks);
      for (int step = 0; step < ended; step++) {
        assertThat(steps).as("the task ends after step %d", ended).isNotEmpty();
        steps.removeFirst().run();
        assertThat(held.client.path.staging().bytes()).isLessThanOrEqualTo((1 << 20) / 8);
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
  void aTaskAsksAPeerForTwoChunksAtATime() {
    List<Runnable> stages = new ArrayList<>();
    reads.transport.holdStages(stages::add);
    stageUnverifiable();
    GatherFixture task = new GatherFixture(reads).start(blocks);
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
  void aChunkThatWaitsForItsPeerIsLeftToSparkAtTheDeadline() {
    ReadFixture held = new ReadFixture(ReadFixture.OPTIONS, Runnable::run, 1 << 20);
    List<Runnable> stages = new ArrayList<>();
    held.transport.holdStages(stages::add);
    for (int map = 0; map < MAPS; map++) {
      held.staged(map, 500, BLOCK_BYTES, 500);
    }
    GatherFixture other = new GatherFixture(held).start(blocks);
    String[] oneChunk = Arrays.copyOf(blocks, 20);
    GatherFixture task = new GatherFixture(held).start(oneChunk);
    assertThat(stages).as("an eighth of the pool").hasSize(2);

    held.timer.advanceMs(ReadFixture.OPTIONS.readTimeoutMs());
    task.readAll();
    assertThat(task.bySpark).containsExactlyInAnyOrder(oneChunk);
    other.close();
    stages.forEach(Runnable::run);

    assertThat(task.delivered).containsExactlyInAnyOrder(oneChunk);
    task.close();
    held.assertNothingIsHeld();
  }
}
