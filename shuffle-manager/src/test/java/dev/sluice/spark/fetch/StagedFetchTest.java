// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.fetch;

import static dev.sluice.spark.fetch.ReadFixture.OPTIONS;
import static dev.sluice.spark.fetch.ReadFixture.block;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.blocks.wire.ControlMessages;
import dev.sluice.blocks.wire.ControlMessages.NotStaged;
import dev.sluice.blocks.wire.ControlMessages.Staged;
import dev.sluice.blocks.wire.MapOutputHeader;
import dev.sluice.rdma.RemoteRegion;
import dev.sluice.rdma.transfer.PeerAddress;
import dev.sluice.rdma.transfer.ReadException.Cause;
import dev.sluice.spark.transport.FakeStager;
import dev.sluice.spark.transport.FallbackReason;
import dev.sluice.spark.transport.MapOutput;
import java.lang.foreign.ValueLayout;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Fetches of blocks that their peer has to stage, and the requests that wait for that. */
class StagedFetchTest {
  private static final int POOL_BYTES = 1 << 20;

  /** Two buffers of such a block are an eighth of the pool. */
  private static final int BLOCK_BYTES = 60_000;

  /** Buffer of a block whose length is not known. */
  private static final int BUFFER_BYTES = OPTIONS.maxGroupBytes();

  private ReadFixture fixture = new ReadFixture(OPTIONS, Runnable::run, POOL_BYTES);
  private final Deque<Runnable> held = new ArrayDeque<>();

  @AfterEach
  void everythingIsGivenBack() {
    assertThat(fixture.listener.repeated()).isEmpty();
    fixture.assertNothingIsHeld();
  }

  private void assertFellBack(FallbackReason reason, String... blockIds) {
    assertThat(fixture.spark.blockIdsFetched()).containsExactlyInAnyOrder(blockIds);
    assertThat(fixture.fallbacks(reason)).isEqualTo(blockIds.length);
  }

  /** Fetches one block of each of several map outputs, each by itself. */
  private String[] fetchEach(int count) {
    String[] blocks = blocks(count);
    for (String block : blocks) {
      fixture.fetch(block);
    }
    return blocks;
  }

  private String[] blocks(int count) {
    return IntStream.range(0, count).mapToObj(map -> block(map, 0)).toArray(String[]::new);
  }

  private void stageEach(int count) {
    for (int map = 0; map < count; map++) {
      fixture.staged(map, BLOCK_BYTES);
    }
  }

  private void runHeld() {
    while (!held.isEmpty()) {
      held.remove().run();
    }
  }

  @Test
  void blocksAreReadFromStagingMemory() {
    fixture.staged(10, 100, 200);
    fixture.unverifiable(11, 100, 200);
    fixture.registered(12, 100, 200);

    fixture.fetch(block(10, 1), block(11, 1), block(12, 1));

    fixture.assertDelivered(block(10, 1), block(11, 1), block(12, 1));
    assertThat(fixture.spark.fetches()).isEmpty();
    assertThat(fixture.count("read.bytes")).isEqualTo(600);
    assertThat(fixture.count("staged.bytes")).isEqualTo(400);
  }

  /** They count once, as in {@code read.bytes}, of which they are a part. */
  @Test
  void bytesThatAreStagedAgainCountOnce() {
    fixture.staged(10, 100, 200);
    fixture.registered(11, 100, 200);
    fixture.transport.afterRead(
        read -> {
          if (read.ranges().getFirst().address() >= FakeStager.FIRST_ADDRESS
              && fixture.transport.stages().size() == 1) {
            read.target().set(ValueLayout.JAVA_LONG_UNALIGNED, 0, 0);
          }
        });

    fixture.fetch(block(10, 1), block(11, 1));

    fixture.assertDelivered(block(10, 1), block(11, 1));
    assertThat(fixture.count("corruptions")).isEqualTo(1);
    assertThat(fixture.transport.stages()).hasSize(2);
    assertThat(fixture.count("read.bytes")).isEqualTo(400);
    assertThat(fixture.count("staged.bytes")).isEqualTo(200);
  }

  @Test
  void blocksThatAreLateThriceGoToSpark() {
    fixture.staged(10, 100);
    fixture.stager.leases(1_000_000);
    fixture.transport.afterRead(_ -> fixture.timer.advanceMs(1));

    fixture.fetch(block(10, 0));

    fixture.assertDelivered(block(10, 0));
    assertFellBack(FallbackReason.STAGING, block(10, 0));
    assertThat(fixture.count("staged.late")).isEqualTo(3);
    assertThat(fixture.count("staged.bytes")).isZero();
  }

  @Test
  void aMapOutputThatIsNotThereIsLocatedAgain() {
    MapOutput output = fixture.staged(10, 100);
    fixture.stager.answers(_ -> new NotStaged(true, "no such map output"));
    fixture.locator.onInvalidate(_ -> fixture.register(output));

    fixture.fetch(block(10, 0));

    fixture.assertDelivered(block(10, 0));
    assertThat(fixture.spark.fetches()).isEmpty();
  }

  @Test
  void aMapOutputThatStaysAwayGoesToSpark() {
    fixture.staged(10, 100);
    fixture.stager.answers(_ -> new NotStaged(true, "no such map output"));

    fixture.fetch(block(10, 0));

    assertFellBack(FallbackReason.STALE_LOCATION, block(10, 0));
  }

  @Test
  void aTableThatIsNotThereHasItsMapOutputLocatedAgain() {
    MapOutput output = fixture.staged(10, 100);
    fixture.staged(11, 200);
    fixture.stager.tables(table -> isOf(10, table) ? Staged.STALE : table);
    fixture.locator.onInvalidate(_ -> fixture.register(output));

    fixture.fetch(block(10, 0), block(11, 0));

    fixture.assertDelivered(block(10, 0), block(11, 0));
    assertThat(fixture.spark.fetches()).isEmpty();
    assertThat(fixture.count("staged.bytes")).isEqualTo(200);
  }

  private static boolean isOf(long mapId, long[] table) {
    return Staged.isTable(table) && MapOutputHeader.of(mapId, table, 0) != null;
  }

  @Test
  void blocksWithoutATableGoToSpark() {
    fixture.staged(10, 100);
    fixture.staged(11, 200);
    fixture.stager.tables(table -> isOf(10, table) ? Staged.UNREADABLE : table);

    fixture.fetch(block(10, 0), block(11, 0));

    fixture.assertDelivered(block(10, 0), block(11, 0));
    assertFellBack(FallbackReason.STAGING, block(10, 0));
  }

  /** Happens to map outputs that were evicted, and registered again when there was room. */
  @Test
  void aTableMaySayThatItsMapOutputIsRegistered() {
    MapOutput output = fixture.staged(10, 100, 200);
    RemoteRegion data = new RemoteRegion(7 << 20, output.data().length, 5);
    fixture.stager.tables(
        table -> {
          long[] header = new MapOutputHeader(10, data, output.algorithm()).toLongs();
          System.arraycopy(header, 0, table, 0, header.length);
          return table;
        });

    fixture.fetch(block(10, 1));

    fixture.assertDelivered(block(10, 1));
    assertThat(fixture.count("staged.bytes")).isEqualTo(200);
  }

  @Test
  void emptyBlocksGoToSparkAsTheyDidBefore() {
    fixture.staged(10, 0, 0);
    fixture.fetch(block(10, 0), block(10, 1));
    assertFellBack(FallbackReason.BLOCK_KIND, block(10, 0), block(10, 1));
    assertThat(fixture.transport.reads()).isEmpty();
  }

  @Test
  void whatDoesNotFitIsAskedForAgain() {
    fixture = new ReadFixture(OPTIONS.with(o -> o.maxStagedBytes = 250));
    fixture.staged(10, 100, 100, 100, 240);
    fixture.fetch(block(10, 0), block(10, 1), block(10, 2), block(10, 3));
    fixture.assertDelivered(block(10, 0), block(10, 1), block(10, 2), block(10, 3));
    assertThat(fixture.transport.stages())
        .extracting(stage -> stage.wanted().size())
        .containsExactly(4, 1, 1);
    assertThat(fixture.spark.fetches()).isEmpty();
  }

  /** The lease was no protection if the peer is another process. */
  @Test
  void stagedBytesAreVerifiedEvenIfOthersAreNot() {
    fixture = new ReadFixture(OPTIONS.with(o -> o.verifyChecksums = false));
    fixture.registered(10, 100);
    fixture.staged(11, 100);
    fixture.transport.afterRead(
        read -> {
          if (read.bytes() == 100 && fixture.transport.stages().size() < 2) {
            read.target().set(ValueLayout.JAVA_LONG_UNALIGNED, 0, 0);
          }
        });

    fixture.fetch(block(10, 0), block(11, 0));

    assertThat(fixture.listener.successes().get(block(10, 0))).startsWith(new byte[Long.BYTES]);
    assertThat(fixture.listener.successes().get(block(11, 0)))
        .isEqualTo(fixture.written(block(11, 0)));
    assertThat(fixture.count("corruptions")).isEqualTo(1);
  }

  /** Blocks without a location come first. */
  @Test
  void aRequestHasSoManyBlocksAtMost() {
    int[] lengths = new int[2 * ControlMessages.MAX_BLOCKS];
    Arrays.fill(lengths, 3);
    fixture.unregistered(1, lengths);
    fixture.staged(2, lengths);
    String[] blocks =
        Stream.concat(blocks(1, lengths.length / 2 + 1), blocks(2, lengths.length))
            .toArray(String[]::new);

    fixture.fetch(blocks);

    fixture.assertDelivered(blocks);
    assertThat(fixture.fallbacks(FallbackReason.STAGING)).isZero();
    assertThat(fixture.transport.stages())
        .extracting(stage -> stage.wanted().size())
        .containsExactly(ControlMessages.MAX_BLOCKS, ControlMessages.MAX_BLOCKS);
  }

  private static Stream<String> blocks(long map, int partitions) {
    return IntStream.range(0, partitions).mapToObj(partition -> block(map, partition));
  }

  @Test
  void aPeerHasAnEighthOfThePool() {
    stageEach(10);
    fixture.transport.holdStages(held::add);

    String[] blocks = fetchEach(10);

    for (int waiting = 10; waiting > 2; waiting--) {
      assertThat(held).hasSize(2);
      assertThat(fixture.transport.bytesOut()).isEqualTo(2 * BUFFER_BYTES);
      held.remove().run();
    }
    runHeld();
    fixture.assertDelivered(blocks);
    assertThat(fixture.spark.fetches()).isEmpty();
    assertThat(fixture.count("staged.waits")).isEqualTo(8);
  }

  @Test
  void allPeersHaveHalfOfThePool() {
    stageEach(20);
    fixture.transport.holdStages(held::add);

    for (int map = 0; map < 20; map++) {
      fixture.locator.peer(new PeerAddress("" + map / 2, "peer", 1234));
      fixture.fetch(block(map, 0));
    }

    assertThat(fixture.transport.bytesOut()).isEqualTo(POOL_BYTES / 2);
    runHeld();
    fixture.assertDelivered(blocks(20));
    assertThat(fixture.spark.fetches()).isEmpty();
  }

  @Test
  void registeredBlocksDoNotWaitForStagedOnes() {
    stageEach(5);
    fixture.registered(10, BLOCK_BYTES);
    fixture.transport.holdStages(held::add);
    fetchEach(5);

    fixture.fetch(block(10, 0));

    assertThat(fixture.listener.successes()).containsOnlyKeys(block(10, 0));
    runHeld();
  }

  /** The peer's process hangs, while its device works. */
  @Test
  void registeredBlocksDoNotWaitForLengthsOfStagedOnes() {
    fixture.registered(10, 100);
    fixture.staged(11, 100);
    fixture.transport.holdStages(held::add);

    fixture.fetch(block(10, 0), block(11, 0));

    assertThat(fixture.listener.successes()).containsOnlyKeys(block(10, 0));
    runHeld();
    fixture.assertDelivered(block(10, 0), block(11, 0));
    assertThat(fixture.spark.fetches()).isEmpty();
  }

  @Test
  void aFetchAsksForTwoBatchesAtATime() {
    fixture = new ReadFixture();
    stageEach(5);
    fixture.transport.holdStages(held::add);
    String[] blocks = blocks(5);

    fixture.fetch(blocks);

    assertThat(held).as("the request that tells the lengths").hasSize(1);
    held.remove().run();
    for (int waiting = 4; waiting > 2; waiting--) {
      assertThat(held).hasSize(2);
      held.remove().run();
    }
    runHeld();
    fixture.assertDelivered(blocks);
    assertThat(fixture.spark.fetches()).isEmpty();
  }

  @Test
  void failuresMakeRoomForOthers() {
    stageEach(6);
    fixture.stager.answers(
        answer ->
            fixture.transport.stages().size() % 2 == 0 ? new NotStaged(false, "full") : answer);
    fixture.transport.script((_, read) -> read.bytes() < BLOCK_BYTES ? null : Cause.TRANSPORT);

    String[] blocks = fetchEach(6);

    fixture.assertDelivered(blocks);
    assertThat(fixture.fallbacks(FallbackReason.STAGING)).isEqualTo(3);
    assertThat(fixture.fallbacks(FallbackReason.TRANSPORT)).isEqualTo(3);
  }

  /**
   * An overloaded peer makes readers wait: Spark's own transport would have it read the same bytes.
   */
  @Test
  void stagedBlocksWaitForABufferUntilTheirDeadline() {
    stageEach(2);
    fixture.registered(10, BLOCK_BYTES);
    fixture.transport.poolBytes(0);
    fixture.transport.holdWaiters();
    fixture.fetch(block(0, 0));
    fixture.fetch(block(10, 0));
    fixture.timer.advanceMs(9_000);
    fixture.transport.serve(fixture.timer.nanoTime());
    assertFellBack(FallbackReason.BUFFERS, block(10, 0));

    fixture.transport.poolBytes(POOL_BYTES);
    fixture.transport.serve(fixture.timer.nanoTime());

    fixture.assertDelivered(block(0, 0), block(10, 0));
    assertThat(fixture.count("staged.bytes")).isEqualTo(BLOCK_BYTES);
  }

  @Test
  void blocksWithoutABufferMakeRoomForOthers() {
    stageEach(1);
    fixture.transport.poolBytes(BUFFER_BYTES - 1);
    fixture.fetch(block(0, 0));
    assertFellBack(FallbackReason.BUFFERS, block(0, 0));
  }

  /** The second of these blocks comes in slices. */
  @Test
  void anyErrorGivesBackThePeersShare() {
    fixture.staged(0, BLOCK_BYTES, BLOCK_BYTES, 3 << 20);
    fixture.transport.throwInAcquire(new OutOfMemoryError("scripted"), BLOCK_BYTES);
    fixture.fetch(block(0, 1));
    fixture.fetch(block(0, 2));
    fixture.assertDelivered(block(0, 1), block(0, 2));
    assertFellBack(FallbackReason.TRANSPORT, block(0, 1), block(0, 2));
  }

  /** Two wait for an answer, and one for its staging slot. */
  @Test
  void blocksWaitingAtTheDeadlineGoToSpark() {
    stageEach(3);
    fixture.transport.holdStages(held::add);
    String[] blocks = fetchEach(3);

    fixture.timer.advanceMs(10_000);

    fixture.assertDelivered(blocks);
    assertFellBack(FallbackReason.DEADLINE, blocks);
    runHeld();
    assertThat(fixture.transport.stages()).as("the third was not asked for").hasSize(2);
    assertThat(fixture.count("read.blocks")).isZero();
    assertThat(fixture.count("staged.bytes")).isZero();
  }

  @Test
  void blocksUnderWayAtTheDeadlineGoToSpark() {
    stageEach(1);
    fixture.transport.holdReads(held::add);
    fixture.fetch(block(0, 0));
    assertThat(held).hasSize(1);

    fixture.timer.advanceMs(10_000);

    assertFellBack(FallbackReason.DEADLINE, block(0, 0));
    runHeld();
  }
}
