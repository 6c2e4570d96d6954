// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.fetch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sluice.spark.fetch.RdmaBlockStoreClient.ReadOptions;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.apache.spark.TaskContext$;
import org.apache.spark.TaskContextImpl;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import scala.Option;

/**
 * A task may end at any moment, even before its readers are made. Its readers hold nothing
 * afterwards: no buffer, no lease, no staging slot, no timer.
 */
@Timeout(120)
class EndedTaskTest {
  private static final int ROUNDS = 1_000;
  private static final int MAPS = 12;
  private static final int PARTITIONS = 5;
  private static final int READERS = 3;

  private final TaskContextImpl task = TaskContext$.MODULE$.empty();

  @AfterEach
  void leaveTask() {
    TaskContext$.MODULE$.unset();
  }

  private void endTask() {
    task.markTaskCompleted(Option.empty());
  }

  @Test
  void closingBeforeStartReleasesBuffers() {
    ReadFixture reads = new ReadFixture();
    String[] blocks = register(reads);
    BatchFetchFixture reader = new BatchFetchFixture(reads, reads.client.path.of(task));

    endTask();

    assertThatThrownBy(() -> reader.start(blocks)).hasMessage("the task has ended");
    assertThat(reads.transport.stages()).isEmpty();
    reads.assertNothingIsHeld();
  }

  @Test
  void readerOfAnEndedTaskIsRefused() {
    ReadFixture reads = new ReadFixture();
    endTask();
    assertThatThrownBy(() -> reads.client.gather(task, _ -> {})).hasMessage("the task has ended");
    assertThat(reads.client.path.tasks().size()).isZero();
  }

  @Test
  void batchesThatAReaderHoldsAreReleasedWithItsTask() {
    ReadFixture reads = new ReadFixture();
    String[] blocks = register(reads);
    BatchFetchFixture reader =
        new BatchFetchFixture(reads, reads.client.path.of(task)).start(blocks);
    assertThat(reader.hasNext()).isTrue();
    assertThat(reads.transport.buffersOut()).isPositive();

    endTask();

    reads.assertNothingIsHeld();
    assertThatThrownBy(reader::readNext).hasMessageContaining("was released");
    assertThatThrownBy(reader::hasNext).hasMessage("the task has ended");
  }

  @Test
  void everyReaderIsClosedWhereSparksMetricsFail() {
    ReadFixture reads = new ReadFixture(ReadFixture.OPTIONS.with(o -> o.gatherBytes = 40_000));
    String[] blocks = register(reads);
    TaskReads taskReads = reads.client.path.of(task);
    BatchFetchFixture first = new BatchFetchFixture(reads, taskReads).start(blocks);
    BatchFetchFixture second = new BatchFetchFixture(reads, taskReads).start(blocks);
    assertThat(second.hasNext()).isTrue();
    assertThat(reads.transport.buffersOut()).as("batches").isGreaterThan(4);
    first.reporterFails = true;
    second.reporterFails = true;

    endTask();

    reads.assertNothingIsHeld();
    assertThat(taskReads.open()).isZero();
  }

  private static String[] register(ReadFixture reads) {
    return IntStream.range(0, MAPS)
        .peek(map -> reads.registered(map, 500, 3_000, 500))
        .mapToObj(map -> ReadFixture.block(map, 1))
        .toArray(String[]::new);
  }

  /** Each round is a schedule of its own, which its seed repeats. */
  @Test
  void tasksThatEndAtAnyMomentLeaveNothing() {
    for (int seed = 0; seed < ROUNDS; seed++) {
      try {
        new Round(seed).run();
      } catch (RuntimeException | AssertionError e) {
        throw new AssertionError("seed " + seed, e);
      }
    }
  }

  private static final class Round {
    private final Random random;
    private final List<Runnable> steps = new ArrayList<>();
    private final ReadFixture reads;
    private final TaskContextImpl task = TaskContext$.MODULE$.empty();
    private final List<BatchFetchFixture> readers = new ArrayList<>();
    private final List<BatchFetchFixture> started = new ArrayList<>();
    private TaskReads taskReads;
    private boolean fetched;
    private boolean ended;

    Round(int seed) {
      random = new Random(seed);
      ReadOptions options =
          ReadFixture.OPTIONS.with(
              o -> {
                o.maxGroupBytes = 4_000;
                o.gatherBytes = random.nextInt(3_000, 60_000);
                o.maxStagedBytes = random.nextInt(3) == 0 ? 1_000 : 1 << 20;
              });
      reads = new ReadFixture(options, steps::add, random.nextInt(1 << 12, 1 << 17));
      for (long map = 0; map < MAPS; map++) {
        reads.any(random, map, random.ints(PARTITIONS, 16, 3_000).toArray());
      }
      reads.stager.misbehave(random);
    }

    void run() {
      TaskContext$.MODULE$.setTaskContext(task);
      List<Runnable> actions = new ArrayList<>();
      for (int i = 0; i < READERS; i++) {
        actions.add(this::make);
        actions.add(this::start);
        actions.add(this::fetchBySparksClient);
        actions.add(this::step);
        actions.add(this::step);
        actions.add(this::read);
      }
      actions.add(random.nextInt(actions.size() + 1), this::end);
      actions.forEach(this::attempt);
      while (!steps.isEmpty()) {
        step();
      }
      reads.timer.advanceMs(20_000);
      while (!steps.isEmpty()) {
        step();
      }
      reads.assertNothingIsHeld();
      assertThat(reads.listener.repeated()).isEmpty();
      assertThat(reads.client.path.tasks().size()).isZero();
      if (taskReads != null) {
        assertThat(taskReads.open()).as("open readers").isZero();
        assertThat(taskReads.slots()).as("staging slots").isZero();
      }
    }

    private void attempt(Runnable action) {
      try {
        action.run();
      } catch (IllegalStateException e) {
        assertThat(ended).as(e.getMessage()).isTrue();
      }
    }

    private void make() {
      TaskReads of = reads.client.path.of(task);
      taskReads = taskReads == null ? of : taskReads;
      readers.add(new BatchFetchFixture(reads, of));
    }

    private void start() {
      if (!readers.isEmpty()) {
        BatchFetchFixture reader = readers.removeFirst();
        reader.start(blocks());
        started.add(reader);
      }
    }

    private void fetchBySparksClient() {
      if (!fetched) {
        fetched = true;
        reads.fetch(blocks());
      }
    }

    private String[] blocks() {
      int partition = random.nextInt(PARTITIONS);
      return IntStream.range(0, MAPS)
          .mapToObj(map -> ReadFixture.block(map, partition))
          .toArray(String[]::new);
    }

    private void step() {
      if (!steps.isEmpty()) {
        steps.remove(random.nextInt(steps.size())).run();
      }
    }

    /** Reads from the executors that need no wait. */
    private void read() {
      for (BatchFetchFixture reader : started) {
        reader.poll();
      }
    }

    private void end() {
      ended = true;
      task.markTaskCompleted(Option.empty());
      assertThat(reads.client.path.tasks().size()).isZero();
    }
  }
}
