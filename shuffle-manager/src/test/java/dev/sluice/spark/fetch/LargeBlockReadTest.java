// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.fetch;

import static dev.sluice.spark.fetch.ReadFixture.batch;
import static dev.sluice.spark.fetch.ReadFixture.block;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.blocks.wire.ControlMessages.NotStaged;
import dev.sluice.blocks.wire.ControlMessages.Partitions;
import dev.sluice.blocks.wire.ControlMessages.Stage;
import dev.sluice.rdma.transfer.ReadException.Cause;
import dev.sluice.spark.fetch.RdmaBlockStoreClient.ReadOptions;
import dev.sluice.spark.fetch.SharedBytes.NettyBuffer;
import dev.sluice.spark.transport.FakeTransport;
import dev.sluice.spark.transport.FallbackReason;
import io.netty.buffer.PoolArenaMetric;
import io.netty.buffer.PooledByteBufAllocator;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import org.apache.spark.network.shuffle.DownloadFile;
import org.apache.spark.network.shuffle.DownloadFileManager;
import org.apache.spark.network.util.TransportConf;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Fetches of blocks to disk, and of blocks that are larger than a buffer. */
class LargeBlockReadTest {
  private static final int BUFFER_BYTES = 5000;

  @TempDir private Path directory;
  private ReadFixture fixture = new ReadFixture();
  private DownloadDirectory downloads;

  @BeforeEach
  void makeBlocksLargerThanABuffer() {
    downloads = new DownloadDirectory(directory);
    fixture.transport.maxBufferBytes(BUFFER_BYTES);
    fixture.registered(10, 12_000, 0, 700, 4000);
  }

  @AfterEach
  void nothingIsLeftBehind() throws IOException {
    fixture.assertNothingIsHeld();
    assertThat(fixture.listener.repeated()).isEmpty();
    assertThat(downloads.files()).hasSameElementsAs(downloads.registered());
  }

  @Test
  void blocksAreReadInSlicesThroughTwoBuffers() {
    fixture.fetch(downloads, block(10, 0), block(10, 2));

    fixture.assertDelivered(block(10, 0), block(10, 2));
    assertThat(fixture.transport.reads())
        .extracting(FakeTransport.Read::bytes)
        .containsExactly(192L, 5000L, 5000L, 2000L, 700L);
    assertThat(fixture.transport.buffersTaken()).as("table, data").isEqualTo(3);
    assertThat(downloads.registered()).hasSize(2);
    assertThat(fixture.count("read.bytes")).isEqualTo(12_700);
    assertThat(fixture.spark.fetches()).isEmpty();
  }

  @Test
  void aSliceIsStoredWhileTheNextOneIsRead() throws IOException {
    Deque<Runnable> underWay = new ArrayDeque<>();
    fixture.registered(11, 30_000, 100);
    fixture.transport.holdReads(underWay::add);

    fixture.fetch(downloads, block(11, 0));
    underWay.removeFirst().run(); // The table.

    Path file = Path.of(downloads.files().getLast());
    for (int stored = 0; stored < 4; stored++) {
      assertThat(underWay).hasSize(2);
      assertThat(file).hasSize(stored * (long) BUFFER_BYTES);
      underWay.removeFirst().run();
    }
    // The order in which they end does not matter.
    underWay.removeLast().run();
    assertThat(file).hasSize(4 * BUFFER_BYTES);
    underWay.removeLast().run();
    fixture.assertDelivered(block(11, 0));
    assertThat(file).hasSize(30_000);
  }

  @Test
  void asManySlicesAreReadAtATimeAsTheLargestBufferHolds() {
    Deque<Runnable> underWay = new ArrayDeque<>();
    fixture = new ReadFixture(ReadFixture.OPTIONS.with(o -> o.maxGroupBytes = BUFFER_BYTES));
    fixture.transport.maxBufferBytes(4 * BUFFER_BYTES);
    fixture.registered(11, 30_000, 100);
    fixture.transport.holdReads(underWay::add);

    fixture.fetch(downloads, block(11, 0));
    underWay.removeFirst().run(); // The table.

    assertThat(underWay).hasSize(4);
    underWay.removeFirst().run();
    assertThat(underWay).as("the buffer is used again").hasSize(4);
    underWay.removeFirst().run();
    assertThat(underWay).as("READs of six slices").hasSize(4);
    fixture.transport.othersWait(true);
    runAll(underWay);
    fixture.assertDelivered(block(11, 0));
  }

  /** A slice may take longer than the time for which unread map outputs are kept. */
  @Test
  void thePeerHearsOfEachSlice() {
    fixture = new ReadFixture(ReadFixture.OPTIONS.with(o -> o.maxGroupBytes = BUFFER_BYTES));
    fixture.registered(11, 4 * BUFFER_BYTES);

    fixture.fetch(downloads, block(11, 0));

    assertThat(fixture.transport.touched()).as("regions of slices and of the table").hasSize(5);
  }

  @Test
  void buffersThatOthersWaitForAreGivenBackButTwo() {
    Deque<Runnable> underWay = new ArrayDeque<>();
    fixture = new ReadFixture(ReadFixture.OPTIONS.with(o -> o.maxGroupBytes = BUFFER_BYTES));
    fixture.transport.maxBufferBytes(4 * BUFFER_BYTES);
    fixture.registered(11, 50_000, 100);
    fixture.transport.holdReads(underWay::add);

    fixture.fetch(downloads, block(11, 0));
    underWay.removeFirst().run(); // The table.
    assertThat(fixture.transport.buffersOut()).isEqualTo(4);

    fixture.transport.othersWait(true);
    underWay.removeFirst().run();
    underWay.removeFirst().run();
    assertThat(fixture.transport.buffersOut()).isEqualTo(2);
    underWay.removeFirst().run();
    assertThat(underWay).hasSize(2);

    fixture.transport.othersWait(false);
    underWay.removeFirst().run();
    assertThat(underWay).hasSizeGreaterThan(2);
    runAll(underWay);
    fixture.assertDelivered(block(11, 0));
  }

  @Test
  void noWriteExceedsTheMemoryThatLinuxFindsAtOnce() {
    fixture = new ReadFixture(ReadFixture.OPTIONS.with(o -> o.maxGroupBytes = 80_000));
    fixture.transport.maxBufferBytes(80_000);
    fixture.registered(11, 100_000, 100);

    fixture.fetch(downloads, block(11, 0));

    fixture.assertDelivered(block(11, 0));
    assertThat(downloads.writes()).containsExactly(32_768, 32_768, 14_464, 20_000);
  }

  private static void runAll(Deque<Runnable> underWay) {
    while (!underWay.isEmpty()) {
      underWay.removeFirst().run();
    }
  }

  @Test
  void aSecondBufferThatIsNotThereIsNotMissed() {
    fixture.fetch(block(10, 3)); // The table stays known.
    fixture.transport.poolBytes(BUFFER_BYTES);

    fixture.fetch(block(10, 0));

    fixture.assertDelivered(block(10, 3), block(10, 0));
    assertThat(fixture.spark.fetches()).isEmpty();
  }

  @Test
  void aReadThatFailsDuringAnotherGivesBackBothBuffers() {
    Deque<Runnable> underWay = new ArrayDeque<>();
    fixture.transport.script((number, _) -> number == 1 ? Cause.TRANSPORT : null);
    fixture.transport.holdReads(underWay::add);

    fixture.fetch(block(10, 0));
    underWay.removeFirst().run(); // The table.

    assertThat(underWay).hasSize(2);
    underWay.removeFirst().run();
    assertFellBack(FallbackReason.TRANSPORT, block(10, 0));
    assertThat(fixture.transport.buffersOut())
        .as("one buffer is still being written to")
        .isEqualTo(1);
    underWay.removeFirst().run();
  }

  @Test
  void aReadThatFailsAfterTheNextOneHasArrivedGivesBackBothBuffers() {
    Deque<Runnable> underWay = new ArrayDeque<>();
    fixture.transport.script((number, _) -> number == 1 ? Cause.TRANSPORT : null);
    fixture.transport.holdReads(underWay::add);

    fixture.fetch(block(10, 0));
    underWay.removeFirst().run(); // The table.

    underWay.removeLast().run();
    underWay.removeLast().run();
    assertFellBack(FallbackReason.TRANSPORT, block(10, 0));
  }

  @Test
  void blockLargerThanABufferIsReadInSlicesToMemory() {
    fixture.fetch(block(10, 0), block(10, 2));

    fixture.assertDelivered(block(10, 0), block(10, 2));
    assertThat(fixture.transport.reads())
        .extracting(FakeTransport.Read::bytes)
        .containsExactlyInAnyOrder(192L, 700L, 5000L, 5000L, 2000L);
    assertThat(fixture.count("read.bytes")).isEqualTo(12_700);
    assertThat(fixture.spark.fetches()).isEmpty();
  }

  @Test
  void aBlockInMemoryTakesNoneThatIsNotPooled() {
    long notPooled = notPooled();
    fixture.registered(11, 6 << 20);
    fixture.transport.maxBufferBytes(700_000);

    fixture.fetch(block(11, 0));

    fixture.assertDelivered(block(11, 0));
    assertThat(fixture.spark.fetches()).isEmpty();
    assertThat(notPooled()).isEqualTo(notPooled);
  }

  private static long notPooled() {
    return ((PooledByteBufAllocator) NettyBuffer.allocator())
        .metric().directArenas().stream().mapToLong(PoolArenaMetric::numHugeAllocations).sum();
  }

  @Test
  void wrongBytesOfALargeBlockAreReadOnceMore() {
    fixture.transport.afterRead(read -> corrupt(read, fixture.transport.reads().size() == 3));

    fixture.fetch(batch(10, 0, 4));

    fixture.assertDelivered(batch(10, 0, 4));
    assertThat(fixture.count("corruptions")).isEqualTo(1);
    assertThat(fixture.spark.fetches()).isEmpty();
  }

  @Test
  void failedReadOfALargeBlockSendsItToSpark() {
    fixture.transport.script((number, _) -> number == 2 ? Cause.TRANSPORT : null);

    fixture.fetch(block(10, 0));

    fixture.assertDelivered(block(10, 0));
    assertFellBack(FallbackReason.TRANSPORT, block(10, 0));
  }

  @Test
  void batchIsVerifiedAcrossSlices() {
    fixture.fetch(downloads, batch(10, 0, 4));

    fixture.assertDelivered(batch(10, 0, 4));
    assertThat(fixture.count("corruptions")).isZero();
  }

  @Test
  void wrongBytesAreReadOnceMoreIntoANewFile() {
    fixture.transport.afterRead(read -> corrupt(read, fixture.transport.reads().size() == 3));

    fixture.fetch(downloads, block(10, 0), block(10, 2));

    fixture.assertDelivered(block(10, 0), block(10, 2));
    assertThat(fixture.count("corruptions")).isEqualTo(1);
    assertThat(fixture.spark.fetches()).isEmpty();
  }

  @Test
  void blockWhoseBytesStayWrongGoesToSparkAlone() {
    fixture.transport.afterRead(read -> corrupt(read, read.bytes() == 2000));

    fixture.fetch(downloads, block(10, 0), block(10, 2));

    fixture.assertDelivered(block(10, 0), block(10, 2));
    assertFellBack(FallbackReason.CHECKSUM, block(10, 0));
    assertThat(fixture.spark.fetches().getFirst().files()).isSameAs(downloads);
  }

  @Test
  void failedReadSendsTheRestToSpark() {
    fixture.transport.script((number, _) -> number == 4 ? Cause.TRANSPORT : null);

    fixture.fetch(downloads, block(10, 0), block(10, 2), block(10, 3));

    fixture.assertDelivered(block(10, 0), block(10, 2), block(10, 3));
    assertFellBack(FallbackReason.TRANSPORT, block(10, 2), block(10, 3));
  }

  @Test
  void staleLocationIsAskedForAgain() {
    fixture.transport.script((number, _) -> number == 2 ? Cause.STALE_LOCATION : null);

    fixture.fetch(downloads, block(10, 0), block(10, 2));

    fixture.assertDelivered(block(10, 0), block(10, 2));
    assertThat(fixture.locator.invalidated()).hasSize(1);
    assertThat(fixture.spark.fetches()).isEmpty();
  }

  @Test
  void noBufferSendsThemToSpark() {
    fixture.transport.poolBytes(4500);

    fixture.fetch(downloads, block(10, 0));

    assertFellBack(FallbackReason.BUFFERS, block(10, 0));
  }

  @Test
  void fileThatCannotBeMadeSendsBlocksToSpark() {
    DownloadFileManager full =
        new DownloadFileManager() {
          @Override
          public DownloadFile createTempFile(TransportConf conf) {
            return new DownloadDirectory(directory.resolve("none")).createTempFile(conf);
          }

          @Override
          public boolean registerTempFileToClean(DownloadFile file) {
            return true;
          }
        };

    fixture.fetch(full, block(10, 0), block(10, 2));

    assertThat(fixture.spark.blockIdsFetched()).containsExactly(block(10, 0), block(10, 2));
  }

  @Test
  void fileOfATaskThatIsOverIsDeleted() throws IOException {
    downloads.endTask();

    fixture.fetch(downloads, block(10, 0), block(10, 2));

    assertThat(downloads.files()).isEmpty();
  }

  @Test
  void listenerThatThrowsLeavesNoFileBehind() {
    fixture.listener.throwOn(block(10, 0)::equals);

    fixture.fetch(downloads, block(10, 0), block(10, 2));

    fixture.assertDelivered(block(10, 0), block(10, 2));
  }

  @Test
  void progressExtendsTheDeadline() {
    fixture.transport.afterRead(read -> fixture.timer.advanceMs(read.bytes() > 192 ? 9_000 : 0));

    fixture.fetch(downloads, block(10, 0));

    fixture.assertDelivered(block(10, 0));
    assertThat(fixture.spark.fetches()).isEmpty();
  }

  @Test
  void deadlineWithoutProgressGivesTheFileUp() {
    fixture.transport.afterRead(read -> fixture.timer.advanceMs(read.bytes() == 5000 ? 10_000 : 0));

    fixture.fetch(downloads, block(10, 0), block(10, 2));

    fixture.assertDelivered(block(10, 0), block(10, 2));
    assertFellBack(FallbackReason.DEADLINE, block(10, 0), block(10, 2));
  }

  @Test
  void blocksLargerThanStagingMemoryAreStagedInSlices() {
    fixture = new ReadFixture(ReadFixture.OPTIONS.with(o -> o.maxStagedBytes = BUFFER_BYTES));
    fixture.staged(11, 12_000, 700);
    fixture.unverifiable(12, 12_000, 700);
    fixture.registered(13, 12_000, 700);
    String[] blocks = {block(11, 0), block(12, 0), block(13, 0), block(11, 1)};

    fixture.fetch(blocks);

    fixture.assertDelivered(blocks);
    assertThat(fixture.transport.stages())
        .as("lengths, slices of two blocks, and a small block")
        .extracting(Stage::maxBytes)
        .containsExactlyInAnyOrder(5000, 5000, 5000, 2000, 5000, 5000, 2000, 700);
    assertThat(fixture.transport.reads())
        .extracting(FakeTransport.Read::bytes)
        .contains(12_000L, 700L);
    assertThat(fixture.count("staged.bytes")).isEqualTo(24_700);
    assertThat(fixture.spark.fetches()).isEmpty();
  }

  @Test
  void stagedBlocksAreFetchedToFiles() {
    fixture.staged(11, 12_000, 700);
    fixture.unverifiable(12, 12_000, 700);
    String[] blocks = {block(11, 0), block(11, 1), block(12, 0), block(12, 1)};

    fixture.fetch(downloads, blocks);

    fixture.assertDelivered(blocks);
    assertThat(fixture.count("staged.bytes")).isEqualTo(25_400);
    assertThat(fixture.spark.fetches()).isEmpty();
  }

  /** Their bytes come in slices, so a copy of them would be thrown away. */
  @Test
  void lengthsOfBlocksForFilesAreAskedForWithoutTheirBytes() {
    fixture.staged(11, 12_000, 700, 1);

    fixture.fetch(downloads, block(11, 0), block(11, 1), block(11, 2));

    fixture.assertDelivered(block(11, 0), block(11, 1), block(11, 2));
    assertThat(fixture.transport.stages())
        .extracting(Stage::maxBytes)
        .as("lengths, three slices, and the small blocks")
        .containsExactly(1, 5000, 5000, 2000, 700, 1);
    assertThat(fixture.spark.fetches()).isEmpty();
  }

  @Test
  void wrongBytesOfAStagedBlockHaveItStagedOnceMore() {
    fixture.staged(11, 12_000);
    fixture.transport.afterRead(read -> corrupt(read, fixture.transport.reads().size() == 3));

    fixture.fetch(downloads, block(11, 0));

    fixture.assertDelivered(block(11, 0));
    assertThat(fixture.transport.stages()).as("the length, and three slices twice").hasSize(7);
    assertThat(fixture.count("corruptions")).isEqualTo(1);
    assertThat(fixture.count("staged.bytes")).isEqualTo(12_000);
    assertThat(fixture.spark.fetches()).isEmpty();
  }

  @Test
  void aStagedBlockWhoseBytesStayWrongGoesToSparkAlone() {
    fixture.staged(11, 12_000, 700);
    fixture.transport.afterRead(read -> corrupt(read, read.bytes() == 2000));

    fixture.fetch(downloads, block(11, 0), block(11, 1));

    fixture.assertDelivered(block(11, 0), block(11, 1));
    assertFellBack(FallbackReason.CHECKSUM, block(11, 0));
    assertThat(fixture.transport.stages())
        .as("lengths, three slices twice, and the small block")
        .hasSize(8);
    assertThat(fixture.count("staged.bytes")).isEqualTo(700);
  }

  @Test
  void aCorruptSliceIsStagedAgainAlone() {
    fixture.unverifiable(11, 12_000);
    fixture.transport.afterRead(read -> corrupt(read, fixture.transport.reads().size() == 3));

    fixture.fetch(block(11, 0));

    fixture.assertDelivered(block(11, 0));
    assertThat(fixture.transport.stages())
        .as("the length, three slices, and one of them again")
        .hasSize(5);
    assertThat(fixture.spark.fetches()).isEmpty();
  }

  @Test
  void aSliceThatIsLateIsStagedAgain() {
    fixture.staged(11, 12_000);
    fixture.transport.afterRead(
        _ -> fixture.timer.advanceMs(fixture.transport.reads().size() == 3 ? 5_000 : 0));

    fixture.fetch(block(11, 0));

    fixture.assertDelivered(block(11, 0));
    assertThat(fixture.count("staged.late")).isPositive();
    assertThat(fixture.spark.fetches()).isEmpty();
  }

  @Test
  void aSliceThatIsNotStagedSendsTheRestToSpark() {
    fixture.staged(11, 12_000, 700, 800);
    fixture.stager.answers(
        answer -> isFirstSliceOfSecond() ? new NotStaged(false, "full") : answer);

    fixture.fetch(downloads, block(11, 0), block(11, 1), block(11, 2));

    fixture.assertDelivered(block(11, 0), block(11, 1), block(11, 2));
    assertFellBack(FallbackReason.STAGING, block(11, 1), block(11, 2));
  }

  /** The lengths and three slices of the first block come before. */
  private boolean isFirstSliceOfSecond() {
    return fixture.transport.stages().size() == 5;
  }

  @Test
  void slicesAreStagedOneByOneWhereAPeerMayHaveNoSecondBuffer() {
    Deque<Runnable> stages = new ArrayDeque<>();
    fixture = smallPool();
    fixture.transport.holdStages(stages::add);

    fixture.fetch(block(11, 0));

    for (int request = 0; request < 1 + 3; request++) {
      assertThat(stages).as("the length first, then each slice").hasSize(1);
      stages.remove().run();
    }
    fixture.assertDelivered(block(11, 0));
    assertThat(fixture.spark.fetches()).isEmpty();
  }

  /** A request that waits for its staging quota holds no buffer that others want. */
  @Test
  void largeBlocksOfAPeerAreStagedInTurns() {
    Deque<Runnable> stages = new ArrayDeque<>();
    fixture = smallPool();
    fixture.transport.holdStages(stages::add);

    fixture.fetch(block(11, 0));
    fixture.fetch(block(12, 0));

    while (!stages.isEmpty()) {
      assertThat(fixture.transport.buffersOut()).isEqualTo(1);
      stages.remove().run();
    }
    assertThat(fixture.transport.stages())
        .flatExtracting(Stage::wanted)
        .extracting(Partitions::mapId)
        .as("after the lengths, each block has one slice that waits")
        .containsExactly(11L, 12L, 11L, 11L, 12L, 11L, 12L, 12L);
    fixture.assertDelivered(block(11, 0), block(12, 0));
    assertThat(fixture.spark.fetches()).isEmpty();
  }

  @Test
  void blocksWaitingForTheirPeerAtTheDeadlineGoToSpark() {
    Deque<Runnable> stages = new ArrayDeque<>();
    fixture = smallPool();
    fixture.transport.holdStages(stages::add);
    fixture.fetch(block(11, 0));
    fixture.fetch(block(12, 0));

    fixture.timer.advanceMs(10_000);

    assertFellBack(FallbackReason.DEADLINE, block(11, 0), block(12, 0));
    assertThat(stages).hasSize(1);
    stages.remove().run();
    assertThat(stages).as("no reader waits for the rest").isEmpty();
  }

  /** A peer may have one buffer. */
  private static ReadFixture smallPool() {
    ReadOptions options = ReadFixture.OPTIONS.with(o -> o.maxStagedBytes = BUFFER_BYTES);
    ReadFixture small = new ReadFixture(options, Runnable::run, 8 * BUFFER_BYTES);
    small.staged(11, 12_000);
    small.staged(12, 12_000);
    return small;
  }

  private void assertFellBack(FallbackReason reason, String... blockIds) {
    assertThat(fixture.spark.blockIdsFetched()).containsExactlyInAnyOrder(blockIds);
    assertThat(fixture.fallbacks(reason)).isEqualTo(blockIds.length);
  }

  private static void corrupt(FakeTransport.Read read, boolean now) {
    if (now) {
      byte first = read.target().get(ValueLayout.JAVA_BYTE, 0);
      read.target().set(ValueLayout.JAVA_BYTE, 0, (byte) ~first);
    }
  }
}
