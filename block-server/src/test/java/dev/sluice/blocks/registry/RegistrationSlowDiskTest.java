// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.registry;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.blocks.directory.FakeProtectionDomain;
import dev.sluice.blocks.directory.LocalDirectories;
import dev.sluice.blocks.directory.RegistrationMethod;
import dev.sluice.blocks.directory.RegistryLimits;
import dev.sluice.blocks.directory.SlowFile;
import dev.sluice.blocks.directory.TestMapOutputs;
import dev.sluice.blocks.wire.MapOutputLocation;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Map outputs in two local directories. The disk of one directory does not answer: its index file
 * is a named pipe.
 */
@ParameterizedClass
@EnumSource(names = {"OPEN_FILE", "READ_ONLY_MAPPING"})
@Timeout(60)
class RegistrationSlowDiskTest {
  private static final int SHUFFLE = 3;
  private static final long SLOW = 1;
  private static final long FAST = 2;
  private static final long OTHER_FAST = 3;

  /** Map output that does not exist yet at the first lookup. */
  private static final long LATE = 4;

  /** Exceeds the number of map outputs that are opened at once per directory. */
  private static final int MANY = 20;

  @Parameter RegistrationMethod form;
  @TempDir Path slowDirectory;
  @TempDir Path fastDirectory;
  private final FakeProtectionDomain domain = new FakeProtectionDomain();
  private final RecordingListener listener = new RecordingListener();
  private final AtomicInteger asked = new AtomicInteger();
  private final CountDownLatch looked = new CountDownLatch(1);
  private final CountDownLatch written = new CountDownLatch(1);
  private TestMapOutputs slow;
  private TestMapOutputs fast;
  private SlowFile pipe;
  private MapOutputRegistry registry;

  @BeforeEach
  void open() throws Exception {
    slow = new TestMapOutputs(slowDirectory);
    fast = new TestMapOutputs(fastDirectory);
    slow.write(SHUFFLE, SLOW, 10, 20);
    fast.write(SHUFFLE, FAST, 10);
    fast.write(SHUFFLE, OTHER_FAST, 10);
    pipe = SlowFile.inPlaceOf(slow.index(SHUFFLE, SLOW));
    registry = registry(new RegistryLimits(1 << 20, 100, 1_000));
  }

  private MapOutputRegistry registry(RegistryLimits limits) {
    return new MapOutputRegistry(
        domain,
        new LocalDirectories(Map.of(slowDirectory, form, fastDirectory, form)),
        new MapOutputFiles() {
          @Override
          public Files find(int shuffleId, long mapId) {
            Files found = on(mapId).find(shuffleId, mapId);
            if (found == null && mapId == LATE) {
              looked.countDown();
              TestMapOutputs.await(written);
            }
            return found;
          }

          @Override
          public List<Path> paths(int shuffleId, long mapId) {
            asked.incrementAndGet();
            return List.of(on(mapId).data(shuffleId, mapId));
          }
        },
        limits,
        listener,
        () -> 0);
  }

  private TestMapOutputs on(long mapId) {
    return mapId == FAST || mapId == OTHER_FAST || mapId == LATE ? fast : slow;
  }

  @AfterEach
  void nothingIsLeft() throws Exception {
    pipe.answer();
    registry.close();
    assertThat(domain.openRegions()).isZero();
    assertThat(slow.openFiles() + fast.openFiles()).isZero();
    assertThat(slow.mappings() + fast.mappings()).isZero();
  }

  private CompletableFuture<List<MapOutputLocation>> resolve(long... mapIds) {
    return registry.resolve(SHUFFLE, mapIds);
  }

  private MapOutputLocation resolveOne(long mapId) throws Exception {
    return resolve(mapId).get(10, TimeUnit.SECONDS).getFirst();
  }

  private static byte[] index(long... offsets) {
    ByteBuffer index = ByteBuffer.allocate(offsets.length * Long.BYTES);
    index.asLongBuffer().put(offsets);
    return index.array();
  }

  private void answer(long... offsets) throws Exception {
    Files.write(slow.index(SHUFFLE, SLOW), index(offsets), StandardOpenOption.WRITE);
  }

  @Test
  void mapOutputsInAnotherDirectoryAreRegistered() throws Exception {
    for (int shuffleId = SHUFFLE + 1; shuffleId < SHUFFLE + MANY; shuffleId++) {
      slow.write(shuffleId, SLOW, 10);
    }
    registry.add(SHUFFLE, SLOW);
    SlowFile.awaitReaders(1);
    for (int shuffleId = SHUFFLE + 1; shuffleId < SHUFFLE + MANY; shuffleId++) {
      registry.add(shuffleId, SLOW);
    }

    assertThat(resolveOne(FAST)).isNotNull();
    assertThat(listener.events).contains("registered 3/2").doesNotContain("registered 3/1");
  }

  @Test
  void howMuchWaitsForOneDiskIsNothingToAnother() throws Exception {
    resolve(SLOW);
    SlowFile.awaitReaders(1);
    for (int i = 0; i < 3; i++) {
      resolve(LongStream.range(100 + 4_000 * i, 4_100 + 4_000 * i).toArray());
    }

    assertThat(resolveOne(FAST)).isNotNull();
  }

  /** A reader may ask before the map output is handed over. */
  @Test
  void mapOutputsCommittedDuringALookupAreRegistered() throws Exception {
    CompletableFuture<List<MapOutputLocation>> early = resolve(LATE);
    looked.await();
    fast.write(SHUFFLE, LATE, 10);
    registry.add(SHUFFLE, LATE);
    written.countDown();

    early.get(10, TimeUnit.SECONDS);
    long deadlineNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(10);
    while (registry.output(SHUFFLE, LATE) == null) {
      assertThat(System.nanoTime()).isLessThan(deadlineNanos);
      Thread.onSpinWait();
    }
  }

  @Test
  void filesOfAPendingMapOutputAreLookedUpOnce() throws Exception {
    resolve(SLOW);
    SlowFile.awaitReaders(1);
    resolve(SLOW);
    assertThat(asked).hasValue(1);
  }

  @Test
  void requestsForBothDirectoriesAreAnsweredInTime() throws Exception {
    registry.close();
    registry = registry(new RegistryLimits(1 << 20, 100, 1_000, 1));
    CompletableFuture<List<MapOutputLocation>> slowOne = resolve(SLOW);
    while (registry.output(SHUFFLE, FAST) == null) {
      resolve(FAST).get(10, TimeUnit.SECONDS);
    }

    assertThat(resolve(SLOW, FAST, OTHER_FAST).get(10, TimeUnit.SECONDS))
        .startsWith(null, registry.output(SHUFFLE, FAST).location());
    assertThat(slowOne.get(10, TimeUnit.SECONDS)).containsOnlyNulls();
  }

  @Test
  void mapOutputsRequestedTwiceAreRegisteredOnce() throws Exception {
    CompletableFuture<List<MapOutputLocation>> first = resolve(SLOW);
    SlowFile.awaitReaders(1);
    CompletableFuture<List<MapOutputLocation>> second = resolve(SLOW, FAST);
    answer(0, 10, 30);

    assertThat(first.get(10, TimeUnit.SECONDS)).doesNotContainNull();
    assertThat(second.get(10, TimeUnit.SECONDS)).containsAll(first.join()).doesNotContainNull();
    assertThat(listener.events).containsOnlyOnce("registered 3/1").hasSize(2);
  }

  @Test
  void mapOutputsUnregisteredWhileBeingOpenedAreNotRegistered() throws Exception {
    CompletableFuture<List<MapOutputLocation>> resolving = resolve(SLOW);
    SlowFile.awaitReaders(1);
    registry.unregister(SHUFFLE);
    assertThat(resolving.get(10, TimeUnit.SECONDS)).containsOnlyNulls();

    registry.add(SHUFFLE, FAST);
    answer(0, 10, 30);
    assertThat(resolveOne(FAST)).isNotNull();
    registry.close();
    assertThat(listener.events).containsExactly("registered 3/2");
  }

  @Test
  void mapOutputsReplacedWhileBeingOpenedAreOpenedAgain() throws Exception {
    CompletableFuture<List<MapOutputLocation>> stale = resolve(SLOW);
    SlowFile.awaitReaders(1);
    try (FileChannel disk = FileChannel.open(slow.index(SHUFFLE, SLOW), StandardOpenOption.WRITE)) {
      pipe.answer();
      slow.write(SHUFFLE, SLOW, 20, 10);
      registry.invalidate(SHUFFLE, SLOW);
      assertThat(stale.get(10, TimeUnit.SECONDS)).containsOnlyNulls();
      disk.write(ByteBuffer.wrap(index(0, 10, 30)));
    }

    assertThat(resolveOne(SLOW)).isNotNull();
    assertThat(registry.segment(SHUFFLE, SLOW, 0, 1).length()).isEqualTo(20);
    registry.close();
    assertThat(listener.events).containsExactly("registered 3/1");
  }

  @Test
  void closingAnswersRequestsThatWaitForTheDisk() throws Exception {
    CompletableFuture<List<MapOutputLocation>> resolving = resolve(SLOW);
    SlowFile.awaitReaders(1);
    CompletableFuture<Void> closing = CompletableFuture.runAsync(registry::close);

    assertThat(resolving.get(10, TimeUnit.SECONDS)).containsOnlyNulls();
    pipe.answer();
    closing.get(10, TimeUnit.SECONDS);
  }
}
