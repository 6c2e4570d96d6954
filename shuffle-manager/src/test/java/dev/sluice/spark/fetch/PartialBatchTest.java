// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.fetch;

import static dev.sluice.spark.fetch.ReadFixture.batch;
import static dev.sluice.spark.fetch.ReadFixture.block;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.blocks.wire.ControlMessages;
import dev.sluice.blocks.wire.ControlMessages.Staged;
import dev.sluice.blocks.wire.MapOutputHeader;
import dev.sluice.blocks.wire.MapOutputLocation;
import dev.sluice.spark.transport.FallbackReason;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Batches of staged blocks of which only some come, since a peer tells their lengths later. */
class PartialBatchTest {
  /** Blocks that are larger than the mean, and then smaller ones. */
  private static final int LARGE = 10;

  private static final int SMALL = 10;
  private static final int LARGE_BYTES = 3000;
  private static final int SMALL_BYTES = 100;
  private static final int MAX_STAGED_BYTES = 20_000;

  private final ReadFixture reads =
      new ReadFixture(ReadFixture.OPTIONS.with(o -> o.maxStagedBytes = MAX_STAGED_BYTES));
  private final String[] blocks =
      IntStream.range(0, LARGE + SMALL).mapToObj(map -> block(map, 1)).toArray(String[]::new);

  private void stageAll() {
    for (int map = 0; map < LARGE + SMALL; map++) {
      reads.staged(map, 500, map < LARGE ? LARGE_BYTES : SMALL_BYTES, 500);
    }
  }

  private BatchFetchFixture readAll(String... wanted) {
    BatchFetchFixture task = new BatchFetchFixture(reads).start(wanted).readAll();
    assertThat(task.delivered).containsExactlyInAnyOrder(wanted);
    task.close();
    reads.assertNothingIsHeld();
    return task;
  }

  /** Sets the table of one map output in all answers. */
  private void tableOf(long mapId, long[] table) {
    UnaryOperator<long[]> replaced =
        each -> Staged.isTable(each) && MapOutputHeader.of(mapId, each, 0) != null ? table : each;
    reads.stager.tables(replaced);
  }

  @Test
  void blocksThatDoNotFitComeWithTheNextRequest() {
    stageAll();
    assertThat(readAll(blocks).bySpark).isEmpty();
    assertThat(reads.transport.stages())
        .as("by the mean, then the rest of the first request by exact lengths")
        .extracting(stage -> stage.wanted().size())
        .containsExactly(11, 9, 5);
    assertThat(reads.transport.stages().getLast().maxBytes())
        .isEqualTo(4 * LARGE_BYTES + SMALL_BYTES);
    assertThat(reads.count("staged.bytes")).isEqualTo(LARGE * LARGE_BYTES + SMALL * SMALL_BYTES);
  }

  @Test
  void theTasksLimitCountsBuffersUntilTheirBatchesAreReleased() {
    ReadFixture few =
        new ReadFixture(
            ReadFixture.OPTIONS.with(
                o -> {
                  o.maxStagedBytes = MAX_STAGED_BYTES;
                  o.gatherBytes = 4 * MAX_STAGED_BYTES;
                }));
    for (int map = 0; map < 50; map++) {
      few.staged(map, 500, map % 2 == 0 ? LARGE_BYTES : SMALL_BYTES, 500);
    }
    String[] all = IntStream.range(0, 50).mapToObj(map -> block(map, 1)).toArray(String[]::new);
    BatchFetchFixture task = new BatchFetchFixture(few).start(all);
    do {
      assertThat(few.transport.bytesOut()).isLessThanOrEqualTo(4L * MAX_STAGED_BYTES);
    } while (task.readNext());
    assertThat(task.delivered).containsExactlyInAnyOrder(all);
    assertThat(task.bySpark).isEmpty();
    task.close();
    few.assertNothingIsHeld();
  }

  @Test
  void aBlockThatProvesTooLargeIsLeftToSparkAlone() {
    stageAll();
    reads.staged(5, 500, 4 * MAX_STAGED_BYTES + 1, 500);
    assertThat(readAll(blocks).bySpark).containsExactly(block(5, 1));
  }

  @Test
  void aBlockThatIsStaleOrCannotBeReadIsLeftToSparkAlone() {
    for (long[] missing : new long[][] {Staged.STALE, Staged.UNREADABLE}) {
      stageAll();
      tableOf(3, missing);
      assertThat(readAll(blocks).bySpark).containsExactly(block(3, 1));
    }
    assertThat(reads.locator.invalidated())
        .as("the stale one is located again")
        .extracting(MapOutputLocation::mapId)
        .containsExactly(3L);
  }

  @Test
  void theWholeBatchIsLeftToSparkAfterADefect() {
    stageAll();
    tableOf(3, Staged.STALE);
    reads.locator.onInvalidate(
        _ -> {
          throw new IllegalStateException("scripted");
        });
    assertThat(readAll(blocks).bySpark).containsExactly(Arrays.copyOf(blocks, 11));
  }

  @Test
  void aTaskThatEndsAsksForNoRest() {
    Deque<Runnable> answers = new ArrayDeque<>();
    reads.transport.holdStages(answers::add);
    stageAll();
    BatchFetchFixture task = new BatchFetchFixture(reads).start(blocks);
    task.close();
    while (!answers.isEmpty()) {
      answers.remove().run();
    }
    assertThat(reads.transport.stages()).hasSize(2);
    reads.assertNothingIsHeld();
  }

  /** The answer to a request has the entries of all its partitions. */
  @Test
  void aBlockOfManyPartitionsIsAskedForAlone() {
    int[] lengths = new int[ControlMessages.MAX_ENTRIES + 1];
    lengths[0] = 10;
    String[] wanted = new String[3];
    for (int map = 0; map < wanted.length; map++) {
      reads.staged(map, lengths);
      wanted[map] = batch(map, 0, map == 1 ? lengths.length : 1);
    }
    assertThat(readAll(wanted).bySpark).isEmpty();
    assertThat(reads.transport.stages()).hasSize(3);
    reads.fetch(wanted);
    reads.assertDelivered(wanted);
    assertThat(reads.transport.stages())
        .hasSize(6)
        .allMatch(stage -> stage.isAllowed() && stage.wanted().size() == 1);
    assertThat(reads.spark.fetches()).isEmpty();
  }

  @Test
  void aBlockOfTooManyPartitionsIsLeftToSpark() {
    int[] lengths = new int[ControlMessages.MAX_ENTRIES_ALONE + 1];
    lengths[0] = 10;
    reads.staged(0, lengths);
    reads.staged(1, lengths);
    String allowed = batch(0, 0, ControlMessages.MAX_ENTRIES_ALONE);
    String tooMany = batch(1, 0, lengths.length);

    assertThat(readAll(allowed, tooMany).bySpark).containsExactly(tooMany);
    reads.fetch(allowed, tooMany);
    reads.assertDelivered(allowed, tooMany);
    assertThat(reads.fallbacks(FallbackReason.STAGING)).isOne();
  }

  @Test
  void aRequestHasAsManyPartitionsAsItsAnswerMayHave() {
    int third = ControlMessages.MAX_ENTRIES / 3 + 1;
    int[] lengths = new int[third];
    lengths[0] = 10;
    String[] wanted = new String[6];
    for (int map = 0; map < wanted.length; map++) {
      reads.staged(map, lengths);
      wanted[map] = batch(map, 0, third);
    }
    assertThat(readAll(wanted).bySpark).isEmpty();
    assertThat(reads.transport.stages())
        .extracting(stage -> stage.wanted().size())
        .containsExactly(2, 2, 2);
  }
}
