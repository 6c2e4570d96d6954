// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.fetch;

import static dev.sluice.spark.fetch.ReadFixture.SHUFFLE;
import static dev.sluice.spark.fetch.ReadFixture.block;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A task's blocks of its own executor come from registered memory, or as Spark reads them. */
class LocalBatchTest {
  private static final int MAPS = 200;
  private static final int BLOCK_BYTES = 3000;

  @TempDir private Path directory;
  private final ReadFixture reads = new ReadFixture();
  private final String[] blocks =
      IntStream.range(0, MAPS).mapToObj(map -> block(map, 1)).toArray(String[]::new);
  private SoftPeer executor;

  @BeforeEach
  void register() throws Exception {
    executor = new SoftPeer(directory);
    for (long map = 0; map < MAPS; map++) {
      executor.write(reads.unregistered(map, 500, BLOCK_BYTES, 500));
    }
    executor
        .registry()
        .resolve(SHUFFLE, LongStream.range(0, MAPS).toArray())
        .get(30, TimeUnit.SECONDS);
  }

  @AfterEach
  void close() {
    executor.close();
  }

  private BatchFetchFixture readAll() {
    BatchFetchFixture task =
        new BatchFetchFixture(reads, UnaryOperator.identity(), executor.registry())
            .start(blocks)
            .readAll();
    task.close();
    assertThat(task.delivered).containsExactlyInAnyOrder(blocks);
    assertThat(reads.count("gathered.blocks")).isEqualTo(MAPS - task.bySpark.size());
    return task;
  }

  @Test
  void blocksComeInBatches() {
    BatchFetchFixture task = readAll();

    assertThat(task.bySpark).isEmpty();
    // Batches have 256 KiB at most.
    assertThat(task.batches).isEqualTo(3);
    assertThat(reads.transport.reads()).isEmpty();
  }

  /** A batch has few of the group's blocks. */
  @Test
  void theMemoryOfABatchDoesNotGrowWithItsGroup() throws Exception {
    int partitions = 1000;
    int blockBytes = 600;
    long[] maps = LongStream.range(MAPS, MAPS + 100).toArray();
    int[] lengths = new int[partitions];
    Arrays.fill(lengths, blockBytes);
    for (long map : maps) {
      executor.write(reads.unregistered(map, lengths));
    }
    executor.registry().resolve(SHUFFLE, maps).get(30, TimeUnit.SECONDS);
    String[] many =
        Arrays.stream(maps)
            .boxed()
            .flatMap(map -> IntStream.range(0, partitions).mapToObj(part -> block(map, part)))
            .toArray(String[]::new);
    BatchFetchFixture task =
        new BatchFetchFixture(reads, UnaryOperator.identity(), executor.registry()).start(many);

    long before = allocatedBytes();
    task.skipAll();
    assertThat(allocatedBytes() - before).isLessThan(85 << 20);
    assertThat(reads.count("gathered.blocks")).isEqualTo(many.length);
    task.close();
  }

  private static long allocatedBytes() {
    return ManagementFactory.getPlatformMXBean(ThreadMXBean.class).getCurrentThreadAllocatedBytes();
  }

  @Test
  void metricsAreThoseOfTheSameBlocksOneByOne() {
    BatchFetchFixture task = readAll();

    assertThat(task.metrics)
        .containsEntry("incLocalBlocksFetched", (long) MAPS)
        .containsEntry("incLocalBytesRead", (long) MAPS * BLOCK_BYTES)
        .doesNotContainKeys("incRemoteBlocksFetched", "incRemoteBytesRead");
    assertThat(reads.count("read.blocks")).isZero();
  }

  @Test
  void noFileIsOpened() throws Exception {
    for (long map = 0; map < MAPS; map++) {
      Files.delete(directory.resolve(map + ".data"));
      Files.delete(directory.resolve(map + ".index"));
    }
    assertThat(readAll().bySpark).isEmpty();
  }

  @Test
  void unregisteredBlocksAreLeftToSpark() {
    executor.registry().invalidate(SHUFFLE, 0);
    executor.registry().invalidate(SHUFFLE, 99);
    assertThat(readAll().bySpark).containsExactly(blocks[0], blocks[99]);
  }

  @Test
  void blocksUnregisteredInTheMeantimeAreLeftToSpark() {
    BatchFetchFixture task =
        new BatchFetchFixture(reads, UnaryOperator.identity(), executor.registry()).start(blocks);
    assertThat(task.readNext()).isTrue();
    executor.registry().unregister(SHUFFLE);
    task.readAll();
    assertThat(task.delivered).containsExactlyInAnyOrder(blocks);
    // The first batch has 87 blocks.
    assertThat(task.bySpark).containsExactly(Arrays.copyOfRange(blocks, 87, MAPS));
  }

  @Test
  void anUnregisteredShuffleIsLeftToSparkFromTheStart() {
    executor.registry().unregister(SHUFFLE);
    BatchFetchFixture task =
        new BatchFetchFixture(reads, UnaryOperator.identity(), executor.registry()).start(blocks);
    assertThat(task.bySpark).containsExactly(blocks);
  }

  @Test
  void falsifiedBytesAreLeftToSpark() throws Exception {
    try (FileChannel file =
        FileChannel.open(directory.resolve("42.data"), StandardOpenOption.WRITE)) {
      file.write(ByteBuffer.wrap(new byte[] {1, 2, 3, 4, 5, 6, 7, 8}), 1000);
    }
    assertThat(readAll().bySpark).containsExactly(blocks[42]);
  }

  @Test
  void largeBlocksAreLeftToSparkFromTheStart() throws Exception {
    long[] maps = {MAPS, MAPS + 1};
    for (long map : maps) {
      executor.write(reads.unregistered(map, (64 << 10) + 1));
    }
    executor.registry().resolve(SHUFFLE, maps).get(30, TimeUnit.SECONDS);
    BatchFetchFixture task =
        new BatchFetchFixture(reads, UnaryOperator.identity(), executor.registry())
            .start(block(MAPS, 0), block(MAPS + 1, 0));
    assertThat(task.bySpark).containsExactly(block(MAPS, 0), block(MAPS + 1, 0));
  }
}
