// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.blocks.directory.FakeProtectionDomain;
import dev.sluice.blocks.directory.LocalDirectories;
import dev.sluice.blocks.directory.RegistryLimits;
import dev.sluice.blocks.directory.SlowFile;
import dev.sluice.blocks.directory.TestMapOutputs;
import dev.sluice.blocks.registry.MapOutputFiles;
import dev.sluice.blocks.registry.MapOutputRegistry;
import dev.sluice.blocks.registry.RecordingListener;
import dev.sluice.blocks.staging.Stager;
import dev.sluice.blocks.staging.TestTimer;
import dev.sluice.blocks.wire.ChecksumAlgorithm;
import dev.sluice.blocks.wire.ControlMessages;
import dev.sluice.blocks.wire.ControlMessages.Partitions;
import dev.sluice.blocks.wire.ControlMessages.Stage;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Executor with 24 local directories. The files of a map output may lie in any three of them. */
@Timeout(60)
class ManyDirectoriesTest {
  private final List<SlowFile> disks = new ArrayList<>();
  private final Set<Thread> before = Thread.getAllStackTraces().keySet();

  private static final int DIRECTORIES = 24;
  private static final int SHUFFLE = 3;

  @TempDir Path root;
  private final List<TestMapOutputs> outputs = new ArrayList<>();
  private final FakeProtectionDomain domain = new FakeProtectionDomain();
  private final CountDownLatch found = new CountDownLatch(1);
  private MapOutputRegistry registry;

  @BeforeEach
  void open() throws Exception {
    List<Path> directories = new ArrayList<>();
    for (int i = 0; i < DIRECTORIES; i++) {
      directories.add(Files.createDirectory(root.resolve("disk" + i)));
      outputs.add(new TestMapOutputs(directories.getLast()));
    }
    registry =
        new MapOutputRegistry(
            domain,
            LocalDirectories.unregistered(directories),
            new MapOutputFiles() {
              @Override
              public Files find(int shuffleId, long mapId) {
                TestMapOutputs.await(found);
                return files(mapId);
              }

              @Override
              public List<Path> paths(int shuffleId, long mapId) {
                Files files = files(mapId);
                return List.of(files.data(), files.index(), files.checksums());
              }
            },
            new RegistryLimits(0, 100, 1_000),
            new RecordingListener(),
            () -> 0);
  }

  @AfterEach
  void close() throws IOException {
    for (SlowFile disk : disks) {
      disk.answer();
    }
    registry.close();
  }

  private MapOutputFiles.Files files(long mapId) {
    return new MapOutputFiles.Files(
        on(mapId / DIRECTORIES).data(SHUFFLE, mapId),
        on(mapId).index(SHUFFLE, mapId),
        on(mapId + 7).checksums(SHUFFLE, mapId),
        ChecksumAlgorithm.CRC32C);
  }

  private TestMapOutputs on(long directory) {
    return outputs.get((int) (directory % DIRECTORIES));
  }

  /** Writes a map output whose files lie in different directories. */
  private void write(long mapId) throws Exception {
    TestMapOutputs whole = on(mapId / DIRECTORIES);
    whole.write(SHUFFLE, mapId, 10, 20);
    MapOutputFiles.Files files = files(mapId);
    Files.move(whole.index(SHUFFLE, mapId), files.index());
    Files.move(whole.checksums(SHUFFLE, mapId), files.checksums());
  }

  /** Number of threads begun since this test began; earlier tests of this JVM leave some. */
  private long threads(String name) {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> thread.getName().equals(name) && !before.contains(thread))
        .count();
  }

  @Test
  void openersAreSixteenForAResolveOf4096MapOutputs() throws Exception {
    long[] mapIds = LongStream.range(0, ControlMessages.MAX_RESOLVE).toArray();
    for (long mapId : mapIds) {
      write(mapId);
    }
    CompletableFuture<?> resolving = registry.resolve(SHUFFLE, mapIds);
    assertThat(threads("sluice-open")).isBetween(1L, 16L);
    found.countDown();
    assertThat(registry.resolve(SHUFFLE, mapIds).get(30, TimeUnit.SECONDS)).doesNotContainNull();
    resolving.get(30, TimeUnit.SECONDS);
  }

  @Test
  void readersOfTablesAreSixtyFourAtMost() throws Exception {
    found.countDown();
    long[] mapIds = LongStream.range(0, 48).toArray();
    for (long mapId : mapIds) {
      write(mapId);
    }
    assertThat(registry.resolve(SHUFFLE, mapIds).get(10, TimeUnit.SECONDS)).doesNotContainNull();
    for (long mapId : mapIds) {
      disks.add(SlowFile.inPlaceOf(files(mapId).index()));
    }
    Stager stager =
        new Stager(domain, registry, 4L * Stager.MAX_REQUEST_BYTES, 8, () -> 0, TestTimer.TIMER);
    BlockingQueue<Object> answers = new LinkedBlockingQueue<>();
    List<Partitions> all =
        LongStream.of(mapIds).mapToObj(mapId -> new Partitions(mapId, 0, 1)).toList();
    Stage stage = new Stage(SHUFFLE, 30_000, all, 0, Stager.MAX_REQUEST_BYTES);
    stager.stage("peer", () -> true, stage, answers::add);
    assertThat(threads("sluice-stage")).isBetween(1L, 64L);
    for (SlowFile disk : disks) {
      disk.answer();
    }
    stager.close();
    assertThat(answers.poll(10, TimeUnit.SECONDS)).isNotNull();
  }
}
