// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.fetch;

import static dev.sluice.spark.fetch.ReadFixture.SHUFFLE;
import static dev.sluice.spark.fetch.ReadFixture.block;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.blocks.registry.MapOutputRegistry;
import dev.sluice.verbs.LiveHeap;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.apache.spark.TaskContext$;
import org.apache.spark.TaskContextImpl;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A task that reads 100,000 times holds no more at the end than at the start. */
@Timeout(180)
class ManyReadersTest {
  private static final int READERS = 100_000;
  private static final int BATCH = 1_000;
  private static final int BLOCK_BYTES = 50;

  /** 40 bytes a reader, so that the test would notice an object in a list. */
  private static final long ALLOWED_BYTES = 4 << 20;

  @TempDir private Path directory;
  private final TaskContextImpl task = TaskContext$.MODULE$.empty();

  @Test
  void readersOfOtherExecutorsBlocksLeaveNothing() {
    assertLevel(
        reads -> {
          reads.registered(0, BLOCK_BYTES, BLOCK_BYTES);
          reads.staged(1, BLOCK_BYTES, BLOCK_BYTES);
        },
        null);
  }

  @Test
  void readersOfTheirExecutorsOwnBlocksLeaveNothing() throws Exception {
    try (SoftPeer executor = new SoftPeer(directory)) {
      ReadFixture writer = new ReadFixture();
      executor.write(writer.unregistered(0, BLOCK_BYTES, BLOCK_BYTES));
      executor.write(writer.unregistered(1, BLOCK_BYTES, BLOCK_BYTES));
      executor.registry().resolve(SHUFFLE, new long[] {0, 1}).get(30, TimeUnit.SECONDS);
      assertLevel(
          reads -> {
            reads.unregistered(0, BLOCK_BYTES, BLOCK_BYTES);
            reads.unregistered(1, BLOCK_BYTES, BLOCK_BYTES);
          },
          executor.registry());
    }
  }

  /** A fixture records its work and is dropped after a batch. Objects that the task holds stay. */
  private void assertLevel(Consumer<ReadFixture> write, MapOutputRegistry own) {
    List<PerTask<TaskReads>> tasks = new ArrayList<>();
    int threads = ManagementFactory.getThreadMXBean().getThreadCount();
    long first = 0;
    for (int read = 0; read < READERS; read += BATCH) {
      ReadFixture reads = new ReadFixture();
      write.accept(reads);
      read(reads, own);
      tasks.add(reads.client.path.tasks());
      if (read == READERS / 10) {
        first = LiveHeap.bytes();
      }
    }
    assertThat(LiveHeap.bytes() - first).as("heap").isLessThan(ALLOWED_BYTES);
    assertThat(ManagementFactory.getThreadMXBean().getThreadCount() - threads)
        .as("threads")
        .isLessThan(10);
    task.markTaskCompleted(scala.Option.empty());
    assertThat(tasks).allMatch(each -> each.size() == 0);
  }

  private void read(ReadFixture reads, MapOutputRegistry own) {
    String[] blocks = {block(0, 0), block(1, 0)};
    for (int i = 0; i < BATCH; i++) {
      BatchFetchFixture reader = new BatchFetchFixture(reads, task, own).start(blocks).readAll();
      assertThat(reader.delivered).containsExactlyInAnyOrder(blocks);
    }
    reads.assertNothingIsHeld();
    assertThat(reads.client.path.of(task).open()).as("open readers").isZero();
    assertThat(reads.spark.fetches()).isEmpty();
  }
}
