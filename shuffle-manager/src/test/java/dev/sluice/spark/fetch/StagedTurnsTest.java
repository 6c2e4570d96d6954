// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.fetch;

import static dev.sluice.spark.fetch.ReadFixture.block;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.spark.transport.FallbackReason;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.stream.IntStream;
import org.apache.spark.TaskContext$;
import org.apache.spark.TaskContextImpl;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A task has two requests under way at a peer that stages, whichever readers make them. */
class StagedTurnsTest {
  private static final int BLOCK_BYTES = 60_000;

  /** Comes in three slices. */
  private static final String LARGE = block(9, 0);

  private final ReadFixture reads =
      new ReadFixture(ReadFixture.OPTIONS.with(o -> o.maxStagedBytes = BLOCK_BYTES));

  private final TaskContextImpl context = TaskContext$.MODULE$.empty();
  private final Deque<Runnable> held = new ArrayDeque<>();

  @BeforeEach
  void aTaskRuns() {
    TaskContext$.MODULE$.setTaskContext(context);
    for (int map = 0; map < 9; map++) {
      reads.staged(map, BLOCK_BYTES);
    }
    reads.staged(9, 3 * BLOCK_BYTES);
    reads.transport.holdStages(held::add);
  }

  @AfterEach
  void itEnds() {
    TaskContext$.MODULE$.unset();
    assertThat(reads.listener.repeated()).isEmpty();
    reads.assertNothingIsHeld();
  }

  private BatchFetchFixture gather(int from, int to) {
    return new BatchFetchFixture(reads, reads.client.path.of(context)).start(blocks(from, to));
  }

  private static String[] blocks(int from, int to) {
    return IntStream.range(from, to).mapToObj(map -> block(map, 0)).toArray(String[]::new);
  }

  private void fetchEach(int from, int to) {
    for (String block : blocks(from, to)) {
      reads.fetch(block);
    }
  }

  private void runHeld(int atATime) {
    while (!held.isEmpty()) {
      assertThat(held).hasSizeLessThanOrEqualTo(atATime);
      held.remove().run();
    }
  }

  /** Two readers use batch fetches, a third and a fourth are Spark's iterators. */
  @Test
  void theReadersOfATaskTakeTurns() {
    BatchFetchFixture first = gather(0, 3);
    BatchFetchFixture second = gather(3, 6);
    reads.fetch(LARGE);
    fetchEach(6, 9);
    assertThat(held).hasSize(2);

    runHeld(2);

    assertThat(first.readAll().bySpark).isEmpty();
    assertThat(second.readAll().bySpark).isEmpty();
    reads.assertDelivered(block(6, 0), block(7, 0), block(8, 0), LARGE);
    assertThat(reads.spark.fetches()).isEmpty();
    assertThat(reads.transport.stages()).as("one of them for the length of a block").hasSize(13);
    first.close();
    second.close();
  }

  @Test
  void anotherTaskHasTurnsOfItsOwn() {
    fetchEach(0, 3);
    TaskContext$.MODULE$.unset();
    fetchEach(3, 5);
    assertThat(held).hasSize(4);
    runHeld(4);
    reads.assertDelivered(blocks(0, 5));
  }

  /** A task may start such a thread to read ahead. */
  @Test
  void threadWithoutATaskContextTakesTurnsWithItsTask() {
    BatchFetchFixture first = gather(0, 3);
    reads.unregistered(10, BLOCK_BYTES);
    BatchFetchFixture left = gather(10, 11).readAll();
    TaskContext$.MODULE$.unset();

    reads
        .client
        .telling(left.lastAsker, context)
        .fetchBlocks("host", 99, "7", blocks(3, 6), reads.listener, null);

    assertThat(held).hasSize(2);
    runHeld(2);
    reads.assertDelivered(blocks(3, 6));
    assertThat(first.readAll().bySpark).isEmpty();
    first.close();
    left.close();
  }

  @Test
  void theTimeToTheDeadlineBeginsAgainWithEachArrival() {
    fetchEach(0, 9);
    assertThat(runHeldSlowly()).as("quarters of the time at the start").isGreaterThan(4);
    reads.assertDelivered(blocks(0, 9));
    assertThat(reads.spark.fetches()).isEmpty();
  }

  /** Answers held requests until there are none, each after a quarter of a batch's time. */
  private int runHeldSlowly() {
    int steps = 0;
    for (; !held.isEmpty(); steps++) {
      reads.timer.advanceMs(ReadFixture.OPTIONS.readTimeoutMs() / 4);
      List<Runnable> answers = List.copyOf(held);
      held.clear();
      answers.forEach(Runnable::run);
    }
    return steps;
  }

  @Test
  void requestsQueuedBehindOtherReadersGetTheirFullTime() {
    List<BatchFetchFixture> readers = List.of(gather(0, 3), gather(3, 6), gather(6, 9));
    reads.fetch(LARGE);
    assertThat(runHeldSlowly()).as("quarters of a batch's time").isGreaterThan(4);
    for (BatchFetchFixture reader : readers) {
      assertThat(reader.readAll().bySpark).isEmpty();
      reader.close();
    }
    reads.assertDelivered(LARGE);
    assertThat(reads.spark.fetches()).isEmpty();
  }

  @Test
  void requestsWithoutATurnByTheDeadlineAreNotSent() {
    BatchFetchFixture task = gather(0, 2);
    reads.fetch(block(2, 0));
    reads.fetch(LARGE);

    reads.timer.advanceMs(ReadFixture.OPTIONS.readTimeoutMs());

    reads.assertDelivered(block(2, 0), LARGE);
    assertThat(reads.fallbacks(FallbackReason.DEADLINE)).isEqualTo(2);
    task.readAll();
    assertThat(task.bySpark).hasSize(2);
    runHeld(2);
    assertThat(reads.transport.stages()).hasSize(2);
    task.close();
  }

  @Test
  void failedRequestsMakeRoomForOthers() {
    reads.transport.throwInAcquire(new OutOfMemoryError("scripted"), BLOCK_BYTES);
    BatchFetchFixture task = gather(0, 3);
    reads.fetch(LARGE);
    reads.transport.throwInAcquire(null, 0);

    fetchEach(3, 5);

    assertThat(held).hasSize(2);
    runHeld(2);
    reads.assertDelivered(block(3, 0), block(4, 0), LARGE);
    assertThat(task.readAll().bySpark).hasSize(3);
    task.close();
  }

  @Test
  void nothingIsLeftOfATaskThatHasEnded() {
    TaskReads limit = reads.client.path.of(context);
    assertThat(reads.client.path.of(context)).isSameAs(limit);
    context.markTaskCompleted(scala.Option.empty());
    assertThat(reads.client.path.of(context)).isNotSameAs(limit);
  }
}
