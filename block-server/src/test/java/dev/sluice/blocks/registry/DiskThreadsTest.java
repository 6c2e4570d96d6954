// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.registry;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.AbstractExecutorService;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class DiskThreadsTest {
  private static final int DIRECTORIES = 24;

  /** Holds its tasks until the test runs them. */
  private static final class HeldTasks extends AbstractExecutorService {
    final Deque<Runnable> held = new ArrayDeque<>();
    Error error;

    @Override
    public void execute(Runnable task) {
      if (error != null) {
        throw error;
      }
      held.add(task);
    }

    void runAll() {
      for (Runnable next = held.poll(); next != null; next = held.poll()) {
        next.run();
      }
    }

    @Override
    public void shutdown() {}

    @Override
    public List<Runnable> shutdownNow() {
      return List.of();
    }

    @Override
    public boolean isShutdown() {
      return true;
    }

    @Override
    public boolean isTerminated() {
      return true;
    }

    @Override
    public boolean awaitTermination(long timeout, TimeUnit unit) {
      return true;
    }
  }

  private final class Named implements DiskThreads.Task {
    final String name;

    Named(String name) {
      this.name = name;
    }

    @Override
    public void run() {
      events.add(name);
    }

    @Override
    public void refused(Throwable reason) {
      events.add(name + " refused: " + reason.getClass().getSimpleName());
    }
  }

  private final List<String> events = new ArrayList<>();
  private final HeldTasks executor = new HeldTasks();
  private final DiskThreads threads =
      new DiskThreads(executor, new DiskThreads.Limits(16, 4, 1), DIRECTORIES);

  private static BitSet in(int... directories) {
    return IntStream.of(directories).collect(BitSet::new, BitSet::set, BitSet::or);
  }

  private void execute(String name, int... directories) {
    threads.execute(in(directories), new Named(name));
  }

  @Test
  void tasksOfTheSameDirectoriesRunOneAfterTheOtherInTheirOrder() {
    for (int i = 0; i < 3; i++) {
      execute("task " + i, 5, 7);
      assertThat(executor.held).hasSize(1);
    }
    executor.runAll();
    assertThat(events).containsExactly("task 0", "task 1", "task 2");
  }

  @Test
  void aThreadThatCannotBeMadeHoldsUpNoLaterTaskOfTheDirectory() {
    executor.error = new OutOfMemoryError("unable to create native thread");
    execute("first", 5, 7);
    assertThat(events).containsExactly("first refused: OutOfMemoryError");

    executor.error = null;
    execute("second", 5, 7);
    executor.runAll();
    assertThat(events).endsWith("second");
  }

  @Test
  void tasksThatWaitAreRefusedWhereNoThreadCanBeMade() {
    for (int i = 0; i < 10_000; i++) {
      execute("task " + i, 5);
    }
    executor.error = new OutOfMemoryError("unable to create native thread");
    executor.runAll();
    assertThat(events).hasSize(10_000).startsWith("task 0", "task 1 refused: OutOfMemoryError");

    executor.error = null;
    execute("last", 5);
    executor.runAll();
    assertThat(events).endsWith("last");
  }

  @Test
  void aTaskThatFailsHoldsUpNoLaterTaskOfTheDirectory() {
    threads.execute(
        in(5),
        new DiskThreads.Task() {
          @Override
          public void run() {
            throw new StackOverflowError();
          }

          @Override
          public void refused(Throwable reason) {}
        });
    execute("next", 5);
    executor.runAll();
    assertThat(events).containsExactly("next");
  }

  /** Spark puts the files of a map output into any three directories. */
  @Test
  void disksThatHangHoldUpNoOtherDirectory() {
    int[] hanging = {0, 1, 2};
    for (int hangs : hanging) {
      for (int b = 0; b < DIRECTORIES; b++) {
        for (int c = 0; c < DIRECTORIES; c++) {
          execute("stuck", hangs, b, c);
        }
      }
    }
    List<Runnable> stuck = List.copyOf(executor.held);
    assertThat(stuck).hasSizeLessThanOrEqualTo(12);
    executor.held.clear();

    for (int b = 3; b < DIRECTORIES; b++) {
      execute("directory " + b, b);
      execute("directories " + b, b, (b + 1) % 21 + 3);
      executor.runAll();
      assertThat(events).contains("directory " + b, "directories " + b);
    }
    assertThat(events).doesNotContain("stuck");
  }

  @Test
  void atMostSixteenTasksAreUnderWay() {
    for (int i = 0; i < 4_096; i++) {
      execute("task", i % 24, i / 24 % 24, i / 500);
    }
    assertThat(executor.held).hasSize(16);
    executor.runAll();
    assertThat(events).hasSize(4_096);
  }

  @Test
  void stoppingRefusesTasksThatWaitAndThoseThatCome() {
    execute("first", 5);
    execute("second", 5);
    threads.stop(0);
    String refused = " refused: " + RejectedExecutionException.class.getSimpleName();
    assertThat(events).containsExactly("second" + refused);

    execute("third", 5);
    assertThat(events).endsWith("third" + refused);
    executor.runAll();
    assertThat(events).hasSize(3).endsWith("first");
  }
}
