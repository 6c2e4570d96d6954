// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.registry;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.blocks.directory.FakeProtectionDomain;
import dev.sluice.blocks.directory.RegistrationMethod;
import dev.sluice.blocks.directory.RegistryCounter;
import dev.sluice.blocks.directory.RegistryLimits;
import dev.sluice.blocks.directory.TestMapOutputs;
import dev.sluice.blocks.wire.MapOutputHeader;
import dev.sluice.rdma.log.LogCapture;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.logging.log4j.Level;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * All operations at once, from seeded random threads. Checks for leaks, for use after unmapping and
 * for stale data.
 */
@ParameterizedClass
@EnumSource
class MapOutputRegistryRaceTest {
  private static final int OPERATIONS = 10_000;
  private static final int THREADS = 4;
  private static final int SHUFFLES = 3;
  private static final int SHUFFLES_IN_TURN = 200;
  private static final int MAPS = 4;
  private static final int[] PARTITIONS = {100, 0, 5000, 37};

  @Parameter RegistrationMethod form;
  @TempDir Path directory;
  private final FakeProtectionDomain domain = new FakeProtectionDomain();
  private final AtomicLong nowMs = new AtomicLong();
  private final byte[][] data = new byte[SHUFFLES * MAPS][];
  private TestMapOutputs outputs;

  @Test
  void noRaceLeaksOrReadsUnmappedMemory() throws Exception {
    race(new RegistryLimits(1 << 20, 1_000, Long.MAX_VALUE / 2), 42, 1);
  }

  @Test
  void evictionRacesWithAllElse() throws Exception {
    int maxRegions = form.isMapping() ? 1_000 : 8;
    long evictions = race(new RegistryLimits(60 << 10, maxRegions, 0), 43, Registrar.GRACE_MS / 8);
    assertThat(evictions).isPositive();
  }

  @Test
  void segmentsAreAskedForWhileTheShuffleGoes() throws Exception {
    outputs = new TestMapOutputs(directory);
    outputs.write(0, 0, PARTITIONS);
    RegistryLimits limits = new RegistryLimits(1 << 20, 1_000, Long.MAX_VALUE / 2);
    AtomicBoolean done = new AtomicBoolean();
    try (MapOutputRegistry registry =
            new MapOutputRegistry(
                domain,
                outputs.directories(form),
                outputs::find,
                limits,
                new RecordingListener(),
                nowMs::incrementAndGet);
        ExecutorService threads = Executors.newFixedThreadPool(1)) {
      Future<?> asking =
          threads.submit(
              () -> {
                while (!done.get()) {
                  checkSegment(registry, 0, 0);
                }
              });
      try {
        for (int i = 0; i < 2_000; i++) {
          registry.add(0, 0);
          registry.resolve(0, new long[] {0}).get(30, TimeUnit.SECONDS);
          registry.unregister(0);
        }
      } finally {
        done.set(true);
      }
      asking.get(30, TimeUnit.SECONDS);
    }
    assertThat(outputs.mappings()).isZero();
  }

  /** More threads than cores, so that some are suspended while they look at a shuffle. */
  @Test
  void aShuffleIsNotDroppedWhileItsMapOutputIsRegistered() throws Exception {
    outputs = new TestMapOutputs(directory);
    outputs.write(0, 0, PARTITIONS);
    AtomicInteger shuffleId = new AtomicInteger();
    List<Integer> dropped = new ArrayList<>();
    try (MapOutputRegistry registry =
            new MapOutputRegistry(
                domain,
                outputs.directories(form),
                (_, mapId) -> outputs.find(0, mapId),
                new RegistryLimits(1 << 20, 1_000, Long.MAX_VALUE / 2),
                new RecordingListener(),
                nowMs::incrementAndGet);
        ExecutorService threads = Executors.newFixedThreadPool(THREADS)) {
      for (int i = 0; i < THREADS; i++) {
        threads.execute(
            () -> {
              while (shuffleId.get() < SHUFFLES_IN_TURN) {
                registry.invalidate(shuffleId.get(), 1);
              }
            });
      }
      try {
        while (shuffleId.incrementAndGet() < SHUFFLES_IN_TURN) {
          ResolvedOutput.header(registry, shuffleId.get(), 0);
          registry.invalidate(shuffleId.get(), 1); // after the other threads
          if (registry.output(shuffleId.get(), 0) == null) {
            dropped.add(shuffleId.get());
          }
          registry.unregister(shuffleId.get());
        }
      } finally {
        shuffleId.set(SHUFFLES_IN_TURN); // the threads end
      }
    }
    assertThat(dropped).isEmpty();
    assertThat(domain.openRegions()).isZero();
  }

  /**
   * Runs random operations from several threads.
   *
   * @param stepMs time that passes with each reading of the clock
   * @return number of evicted shuffles
   */
  private long race(RegistryLimits limits, long seed, long stepMs) throws Exception {
    outputs = new TestMapOutputs(directory);
    for (int i = 0; i < data.length; i++) {
      data[i] = outputs.write(i / MAPS, i % MAPS, PARTITIONS);
    }
    MapOutputRegistry registry =
        new MapOutputRegistry(
            domain,
            outputs.directories(form),
            outputs::find,
            limits,
            new RecordingListener(),
            () -> nowMs.addAndGet(stepMs));
    try (LogCapture warnings = new LogCapture(MapOutputReader.class, Level.WARN);
        ExecutorService threads = Executors.newFixedThreadPool(THREADS)) {
      List<Callable<Void>> racers = new ArrayList<>();
      for (int i = 0; i < THREADS; i++) {
        Random random = new Random(seed + i);
        racers.add(
            () -> {
              for (int n = 0; n < OPERATIONS / THREADS; n++) {
                step(registry, random);
              }
              return null;
            });
      }
      for (Future<Void> racer : threads.invokeAll(racers, 60, TimeUnit.SECONDS)) {
        racer.get();
      }
      // A file that was closed by its map output's deregistration does not count as a failing disk.
      assertThat(warnings.messages()).isEmpty();
    }
    for (int shuffleId = 0; shuffleId < SHUFFLES; shuffleId++) {
      registry.unregister(shuffleId);
    }
    assertThat(domain.openRegions()).isZero();
    assertThat(registry.counters().get(RegistryCounter.REGISTERED_OUTPUTS)).isZero();
    registry.close();
    // The thread that gives pages back may hold memory a moment longer.
    assertThat(outputs.mappings()).isZero();
    assertThat(registry.counters().get(RegistryCounter.REGISTERED_BYTES)).isZero();
    assertThat(registry.counters().get(RegistryCounter.REGISTERED_REGIONS)).isZero();
    // Files that tasks read of staged outputs stay open for a moment, or until close.
    assertThat(outputs.openFiles()).isZero();
    return registry.counters().get(RegistryCounter.EVICTIONS);
  }

  private void step(MapOutputRegistry registry, Random random) throws Exception {
    int shuffleId = random.nextInt(SHUFFLES);
    int mapId = random.nextInt(MAPS);
    switch (random.nextInt(11)) {
      case 0 -> registry.unregister(shuffleId);
      case 1 -> registry.invalidate(shuffleId, mapId);
      case 2, 3 -> registry.add(shuffleId, mapId);
      case 4 -> registry.touch(shuffleId);
      case 5 -> checkSegment(registry, shuffleId, mapId);
      case 6 -> checkCopy(registry, shuffleId, mapId);
      case 7 -> registry.addUnserved(shuffleId, mapId, outputs.find(shuffleId, mapId));
      default -> checkRead(registry, shuffleId, mapId);
    }
  }

  private void checkSegment(MapOutputRegistry registry, int shuffleId, int mapId) {
    MapOutputRegistry.Segment segment = registry.segment(shuffleId, mapId, 1, 3);
    if (segment != null) {
      boolean isMapped = form.isMapping() && segment.mapped(); // it may be staged
      assertThat(segment)
          .isEqualTo(
              new MapOutputRegistry.Segment(outputs.data(shuffleId, mapId), 100, 5000, isMapped));
    }
  }

  private void checkCopy(MapOutputRegistry registry, int shuffleId, int mapId) {
    MapOutputReader reader = registry.reader(shuffleId);
    byte[] target = new byte[5000];
    if (reader != null && reader.copy(mapId, 2, 3, target, 0) != MapOutputReader.UNREADABLE) {
      assertThat(target).isEqualTo(Arrays.copyOfRange(data[shuffleId * MAPS + mapId], 100, 5100));
    }
  }

  private void checkRead(MapOutputRegistry registry, int shuffleId, int mapId) throws Exception {
    MapOutputHeader location = ResolvedOutput.header(registry, shuffleId, mapId);
    if (location != null) {
      byte[] read = domain.read(location.data());
      if (read != null) {
        assertThat(read).isEqualTo(data[shuffleId * MAPS + mapId]);
      }
    }
  }
}
