// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.registry;

import static dev.sluice.blocks.directory.RegistryCounter.GONE;
import static dev.sluice.blocks.directory.RegistryCounter.REGISTERED_BYTES;
import static dev.sluice.blocks.directory.RegistryCounter.REGISTERED_OUTPUTS;
import static dev.sluice.blocks.directory.RegistryCounter.REGISTERED_REGIONS;
import static dev.sluice.blocks.directory.RegistryCounter.REGISTRATIONS;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.blocks.directory.FakeProtectionDomain;
import dev.sluice.blocks.directory.RegistrationMethod;
import dev.sluice.blocks.directory.RegistryLimits;
import dev.sluice.blocks.directory.TestMapOutputs;
import dev.sluice.blocks.wire.ChecksumAlgorithm;
import dev.sluice.blocks.wire.MapOutputHeader;
import dev.sluice.blocks.wire.MapOutputLocation;
import dev.sluice.blocks.wire.TableEntry;
import dev.sluice.rdma.PageSize;
import dev.sluice.rdma.RemoteRegion;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

@ParameterizedClass
@EnumSource
class MapOutputRegistryTest {
  private static final int SHUFFLE = 3;
  private static final long SLAB_BYTES = PageSize.roundUp(16 << 10);
  private static final RegistryLimits LIMITS = new RegistryLimits(1 << 20, 100, 1_000);

  @Parameter RegistrationMethod form;
  @TempDir Path directory;
  private final FakeProtectionDomain domain = new FakeProtectionDomain();
  private final RecordingListener listener = new RecordingListener();
  private final AtomicLong nowMs = new AtomicLong();
  private TestMapOutputs outputs;
  private MapOutputRegistry registry;

  @BeforeEach
  void open() {
    outputs = new TestMapOutputs(directory);
    registry = registry(outputs::find, LIMITS);
  }

  private MapOutputRegistry registry(MapOutputFiles files, RegistryLimits limits) {
    return new MapOutputRegistry(
        domain, outputs.directories(form), files, limits, listener, nowMs::get);
  }

  @AfterEach
  void nothingIsLeft() throws Exception {
    registry.close();
    assertThat(domain.openRegions()).isZero();
    assertThat(outputs.mappings()).isZero();
    assertThat(outputs.openFiles()).isZero();
    assertThat(registry.counters().get(REGISTERED_BYTES)).isZero();
    assertThat(registry.counters().get(REGISTERED_REGIONS)).isZero();
    assertThat(registry.counters().get(REGISTERED_OUTPUTS)).isZero();
  }

  private boolean isPinned() {
    return form == RegistrationMethod.READ_ONLY_MAPPING;
  }

  private MapOutputHeader resolve(int shuffleId, long mapId) throws Exception {
    return ResolvedOutput.header(registry, shuffleId, mapId);
  }

  @Test
  void aCommittedMapOutputCanBeRead() throws Exception {
    byte[] data = outputs.write(SHUFFLE, 7, 5, 0, PageSize.BYTES - 5, 1);
    registry.add(SHUFFLE, 7);

    MapOutputHeader location = resolve(SHUFFLE, 7);
    assertThat(location.mapId()).isEqualTo(7);
    assertThat(domain.read(location.data())).isEqualTo(data);
    assertThat(listener.events).containsExactly("registered 3/7");
    assertThat(registry.counters().get(REGISTERED_BYTES))
        .isEqualTo(SLAB_BYTES + (isPinned() ? 2 * PageSize.BYTES : 0));
    assertThat(registry.counters().get(REGISTERED_REGIONS)).isEqualTo(2);
    assertThat(registry.counters().get(REGISTRATIONS)).isEqualTo(1);
    assertThat(outputs.mappings()).isEqualTo(form.isMapping() ? 1 : 0);
    assertThat(outputs.openFiles()).isEqualTo(form.isMapping() ? 0 : 2);
  }

  /** Relies on the check in {@link #nothingIsLeft}. */
  @Test
  void everyRegionIsClosedThoughOthersFail() throws Exception {
    for (int shuffle = SHUFFLE; shuffle < SHUFFLE + 2; shuffle++) {
      for (long mapId = 0; mapId < 10; mapId++) {
        outputs.write(shuffle, mapId, IntStream.generate(() -> 5).limit(1_500).toArray());
        resolve(shuffle, mapId);
      }
    }
    assertThat(domain.openRegions()).as("several slabs each").isGreaterThanOrEqualTo(2 * (10 + 2));
    domain.whenClosing(
        () -> {
          throw new IllegalStateException("of the test");
        });
    registry.close();
  }

  @Test
  void aDataFileMayExceedTwoGibibytes() throws Exception {
    long bytes = 3L << 30;
    byte[] end = {1, 2, 3};
    outputs.write(SHUFFLE, 7, 1, 1);
    Files.delete(outputs.checksums(SHUFFLE, 7));
    ByteBuffer index = ByteBuffer.allocate(3 * Long.BYTES);
    Files.write(
        outputs.index(SHUFFLE, 7),
        index.putLong(0).putLong(bytes - end.length).putLong(bytes).array());
    try (FileChannel sparse =
        FileChannel.open(outputs.data(SHUFFLE, 7), StandardOpenOption.WRITE)) {
      sparse.write(ByteBuffer.wrap(end), bytes - end.length);
    }
    registry.close();
    registry = registry(outputs::find, new RegistryLimits(2 * bytes, 100, 1_000));

    MapOutputHeader location = resolve(SHUFFLE, 7);
    assertThat(domain.read(location.data(), bytes - end.length, end.length)).isEqualTo(end);
    assertThat(registry.segment(SHUFFLE, 7, 1, 2)).isEqualTo(segment(bytes - end.length, 3));
  }

  @Test
  void theTableHoldsOffsetsAndChecksums() throws Exception {
    byte[] data = outputs.write(SHUFFLE, 7, 5, 0, 10);
    MapOutputHeader header = resolve(SHUFFLE, 7);
    TableSlot table = (TableSlot) registry.output(SHUFFLE, 7).table();
    RemoteRegion entries = table.segment().entries(0, 3, table.slot(), table.slot());

    ByteBuffer remote = ByteBuffer.wrap(domain.read(entries)).order(ByteOrder.LITTLE_ENDIAN);
    assertThat(header.checksumAlgorithm()).isEqualTo(ChecksumAlgorithm.CRC32C);
    long[][] expected = {{0, 5}, {5, 0}, {5, 10}};
    for (int i = 0; i < expected.length; i++) {
      int at = i * table.segment().slots() * TableEntry.BYTES;
      long first = remote.getLong(at);
      long second = remote.getLong(at + Long.BYTES);
      int offset = (int) expected[i][0];
      int length = (int) expected[i][1];
      assertThat(TableEntry.offset(first)).isEqualTo(offset);
      assertThat(TableEntry.length(first, second)).isEqualTo(length);
      assertThat(TableEntry.checksum(second))
          .isEqualTo(TestMapOutputs.checksum(data, offset, length));
    }
    assertThat(remoteHeader(table)).isEqualTo(header);
  }

  /** Reads a header as a peer does; null if there is none. */
  private MapOutputHeader remoteHeader(TableSlot table) {
    long[] longs = new long[MapOutputHeader.LONGS];
    ByteBuffer.wrap(domain.read(table.segment().headers(table.slot(), table.slot() + 1)))
        .order(ByteOrder.LITTLE_ENDIAN)
        .asLongBuffer()
        .get(longs);
    return MapOutputHeader.of(7, longs, 0);
  }

  @Test
  void withoutAChecksumFileThereAreNoChecksums() throws Exception {
    outputs.write(SHUFFLE, 7, 5);
    Files.delete(outputs.checksums(SHUFFLE, 7));

    assertThat(resolve(SHUFFLE, 7).checksumAlgorithm()).isEqualTo(ChecksumAlgorithm.NONE);
  }

  @Test
  void anEmptyMapOutputHasATableButNoData() throws Exception {
    outputs.write(SHUFFLE, 7, 0, 0);
    MapOutputHeader location = resolve(SHUFFLE, 7);

    assertThat(location.data().length()).isZero();
    assertThat(registry.output(SHUFFLE, 7).table().partitions()).isEqualTo(2);
    assertThat(registry.segment(SHUFFLE, 7, 0, 2).length()).isZero();
  }

  @Test
  void tablesOfAShuffleShareARegion() throws Exception {
    for (long mapId = 0; mapId < 50; mapId++) {
      outputs.write(SHUFFLE, mapId, 1, 2, 3);
      registry.add(SHUFFLE, mapId);
    }
    resolve(SHUFFLE, 49);

    assertThat(domain.openRegions()).isEqualTo(51);
    assertThat(registry.counters().get(REGISTERED_OUTPUTS)).isEqualTo(50);
  }

  @Test
  void aTableLargerThanASlabGetsItsOwn() throws Exception {
    outputs.write(SHUFFLE, 1, 1);
    outputs.write(SHUFFLE, 2, new int[5_000]);
    outputs.write(SHUFFLE, 3, 1);
    registry.resolve(SHUFFLE, new long[] {1, 2, 3}).get(10, TimeUnit.SECONDS);

    for (long mapId : new long[] {1, 2, 3}) {
      TableSlot table = (TableSlot) registry.output(SHUFFLE, mapId).table();
      assertThat(table.partitions()).isEqualTo(mapId == 2 ? 5_000 : 1);
      assertThat(domain.read(table.segment().region())).hasSize((int) table.memory().byteSize());
    }
  }

  @Test
  void segmentsComeFromTheTable() throws Exception {
    outputs.write(SHUFFLE, 7, 5, 0, 10, 3);
    assertThat(registry.segment(SHUFFLE, 7, 0, 1)).isNull();
    resolve(SHUFFLE, 7);
    Files.delete(outputs.index(SHUFFLE, 7));

    assertThat(registry.segment(SHUFFLE, 7, 0, 1)).isEqualTo(segment(0, 5));
    assertThat(registry.segment(SHUFFLE, 7, 1, 2)).isEqualTo(segment(5, 0));
    assertThat(registry.segment(SHUFFLE, 7, 1, 4)).isEqualTo(segment(5, 13));
    assertThat(registry.segment(SHUFFLE, 7, 3, 5)).isNull();
    assertThat(registry.segment(SHUFFLE, 7, -1, 1)).isNull();
    assertThat(registry.segment(SHUFFLE, 7, 2, 1)).isNull();
    assertThat(registry.segment(SHUFFLE, 8, 0, 1)).isNull();
    assertThat(registry.segment(SHUFFLE + 1, 7, 0, 1)).isNull();
  }

  private MapOutputRegistry.Segment segment(long offset, long length) {
    return new MapOutputRegistry.Segment(
        outputs.data(SHUFFLE, 7), offset, length, form.isMapping());
  }

  @Test
  void locationsKeepTheOrderOfTheRequest() throws Exception {
    for (long mapId : new long[] {1, 2, 3}) {
      outputs.write(SHUFFLE, mapId, 10);
    }
    List<MapOutputLocation> locations =
        registry.resolve(SHUFFLE, new long[] {3, 9, 1, 2, 1}).get(10, TimeUnit.SECONDS);

    assertThat(locations)
        .extracting(location -> location == null ? null : location.mapId())
        .containsExactly(3L, null, 1L, 2L, 1L);
    assertThat(registry.counters().get(GONE)).isEqualTo(1);
  }

  @Test
  void unregisteringEndsAllReads() throws Exception {
    outputs.write(SHUFFLE, 7, 100);
    MapOutputHeader location = resolve(SHUFFLE, 7);
    RemoteRegion segment = registry.output(SHUFFLE, 7).location().segment().region();
    registry.unregister(SHUFFLE);

    assertThat(domain.read(location.data())).isNull();
    assertThat(domain.read(segment)).isNull();
    assertThat(registry.segment(SHUFFLE, 7, 0, 1)).isNull();
    assertThat(outputs.mappings()).isZero();
    assertThat(outputs.openFiles()).isZero();
    assertThat(registry.counters().get(REGISTERED_BYTES)).isZero();
  }

  @Test
  void onlyANewMapOutputReopensAnUnregisteredShuffle() throws Exception {
    outputs.write(SHUFFLE, 7, 100);
    resolve(SHUFFLE, 7);
    registry.unregister(SHUFFLE);
    assertThat(resolve(SHUFFLE, 7)).isNull();

    outputs.write(SHUFFLE, 8, 100);
    registry.add(SHUFFLE, 8);
    assertThat(resolve(SHUFFLE, 8)).isNotNull();
  }

  @Test
  void anEvictedShuffleIsWithdrawnAndMayBeResolvedAgain() throws Exception {
    outputs.write(SHUFFLE, 7, 100);
    MapOutputHeader location = resolve(SHUFFLE, 7);
    registry.evict(SHUFFLE);
    registry.evict(SHUFFLE + 1);
    afterAllThatWaits();
    assertThat(domain.read(location.data())).as("readers may just have located it").isNotNull();
    assertThat(listener.events).containsExactly("registered 3/7", "withdrawn 3", "registered 9/1");

    nowMs.set(Registrar.GRACE_MS - 1);
    registry.evict(SHUFFLE);
    nowMs.set(Registrar.GRACE_MS);
    afterAllThatWaits();
    assertThat(domain.read(location.data())).isNull();
    assertThat(registry.shuffles()).containsExactly(9);
    assertThat(resolve(SHUFFLE, 7)).isNotNull();
    assertThat(listener.events).last().isEqualTo("registered 3/7");
    assertThat(listener.events).containsOnlyOnce("withdrawn 3");
  }

  /** It holds no memory itself, and is added without the shuffle's lock. */
  @Test
  void aMapOutputThatIsHandedOverDuringAnEvictionKeepsNoMemory() throws Exception {
    outputs.write(SHUFFLE, 0, 100);
    outputs.write(SHUFFLE, 7, 100);
    resolve(SHUFFLE, 7);
    AtomicBoolean isFirst = new AtomicBoolean(true);
    domain.whenClosing(
        () -> {
          if (isFirst.getAndSet(false)) {
            registry.addUnserved(SHUFFLE, 0, outputs.find(SHUFFLE, 0));
          }
        });
    registry.evict(SHUFFLE);
    afterAllThatWaits();
    nowMs.set(Registrar.GRACE_MS);
    afterAllThatWaits();
    registry.unregister(9);
    assertThat(isFirst).isFalse();
    assertThat(domain.openRegions()).isZero();
  }

  /** Waits until the registry's one thread has done all earlier work. */
  private void afterAllThatWaits() throws Exception {
    int mapId = (int) nowMs.get() + 1;
    outputs.write(9, mapId, 10);
    resolve(9, mapId);
  }

  @Test
  void evictionForgetsFailuresOfTheShuffle() throws Exception {
    outputs.write(SHUFFLE, 7, 100);
    Files.write(outputs.data(SHUFFLE, 7), new byte[1]);
    assertThat(resolve(SHUFFLE, 7)).isNull();
    assertThat(registry.shuffles()).containsExactly(SHUFFLE);
    registry.evict(SHUFFLE);
    afterAllThatWaits();
    nowMs.set(Registrar.GRACE_MS);
    afterAllThatWaits();

    assertThat(registry.shuffles()).containsExactly(9);
  }

  @Test
  void aRegistrationThatWaitsWhenTheShuffleIsUnregisteredIsDropped() throws Exception {
    CountDownLatch asked = new CountDownLatch(1);
    CountDownLatch proceed = new CountDownLatch(1);
    MapOutputFiles slow =
        (shuffleId, mapId) -> {
          asked.countDown();
          TestMapOutputs.await(proceed);
          return outputs.find(shuffleId, mapId);
        };
    registry.close();
    registry = registry(slow, LIMITS);
    outputs.write(9, 1, 10);
    outputs.write(SHUFFLE, 7, 10);
    registry.add(9, 1);
    registry.add(SHUFFLE, 7);
    CompletableFuture<List<MapOutputLocation>> resolving =
        registry.resolve(SHUFFLE, new long[] {7});
    TestMapOutputs.await(asked);
    registry.unregister(SHUFFLE);
    proceed.countDown();

    assertThat(resolving.get(10, TimeUnit.SECONDS)).containsOnlyNulls();
    // The registry's thread looks for this one after it has announced the other.
    registry.resolve(9, new long[] {2}).get(10, TimeUnit.SECONDS);
    assertThat(listener.events).containsExactly("registered 9/1");
  }

  /** A caller that may not wait leaves the work to the registration, which a slow disk delays. */
  @Test
  void unregisteringWithoutWaitingTakesEffectWhenTheRegistrationEnds() throws Exception {
    CountDownLatch asked = new CountDownLatch(1);
    CountDownLatch proceed = new CountDownLatch(1);
    domain.whenRegistering(
        () -> {
          asked.countDown();
          TestMapOutputs.await(proceed);
        });
    outputs.write(SHUFFLE, 7, 10);
    CompletableFuture<List<MapOutputLocation>> resolving =
        registry.resolve(SHUFFLE, new long[] {7});
    TestMapOutputs.await(asked);
    Thread.currentThread().interrupt();
    registry.unregister(SHUFFLE);
    assertThat(Thread.interrupted()).isTrue();
    proceed.countDown();

    assertThat(resolving.get(10, TimeUnit.SECONDS)).containsOnlyNulls();
    registry.close(); // waits for that registration
    assertThat(domain.openRegions()).isZero();
    assertThat(registry.counters().get(REGISTERED_OUTPUTS)).isZero();
  }

  @Test
  void anInterruptedThreadUnregistersIdleShufflesAtOnce() throws Exception {
    outputs.write(SHUFFLE, 7, 10);
    resolve(SHUFFLE, 7);
    Thread.currentThread().interrupt();
    registry.unregister(SHUFFLE);
    assertThat(Thread.interrupted()).isTrue();
    assertThat(domain.openRegions()).isZero();
  }

  @Test
  void aRegistrationThatFindsItsMapOutputGoneUndoesItself() throws Exception {
    outputs.write(SHUFFLE, 7, 10);
    domain.whenRegistering(() -> outputs.delete(SHUFFLE, 7));

    assertThat(resolve(SHUFFLE, 7)).isNull();
    assertThat(registry.counters().get(GONE)).isEqualTo(1);
    assertThat(domain.openRegions()).isZero();
    assertThat(listener.events).isEmpty();
  }

  @Test
  void aReplacedMapOutputIsRegisteredAnew() throws Exception {
    outputs.write(SHUFFLE, 7, 100);
    MapOutputHeader stale = resolve(SHUFFLE, 7);
    resolve(SHUFFLE, 7);
    outputs.delete(SHUFFLE, 7);
    byte[] data = outputs.write(SHUFFLE, 7, 50, 25);
    registry.invalidate(SHUFFLE, 7);

    assertThat(domain.read(stale.data())).isNull();
    assertThat(domain.read(resolve(SHUFFLE, 7).data())).isEqualTo(data);
  }

  @Test
  void invalidatingOneMapOutputLeavesTheOthers() throws Exception {
    outputs.write(SHUFFLE, 7, 100);
    byte[] data = outputs.write(SHUFFLE, 8, 100);
    resolve(SHUFFLE, 7);
    MapOutputHeader other = resolve(SHUFFLE, 8);
    registry.invalidate(SHUFFLE, 7);

    assertThat(domain.read(other.data())).isEqualTo(data);
    assertThat(registry.segment(SHUFFLE, 7, 0, 1)).isNull();
    assertThat(outputs.openFiles()).isEqualTo(form.isMapping() ? 0 : 2);
  }

  @Test
  void closingAnswersWaitingRequests() throws Exception {
    CountDownLatch proceed = new CountDownLatch(1);
    MapOutputFiles slow =
        (shuffleId, mapId) -> {
          TestMapOutputs.await(proceed);
          return outputs.find(shuffleId, mapId);
        };
    registry.close();
    registry = registry(slow, LIMITS);
    outputs.write(SHUFFLE, 7, 10);
    CompletableFuture<List<MapOutputLocation>> first = registry.resolve(SHUFFLE, new long[] {7});
    CompletableFuture<List<MapOutputLocation>> second = registry.resolve(9, new long[] {7});
    CompletableFuture<Void> closing = CompletableFuture.runAsync(registry::close);
    proceed.countDown();
    closing.get(10, TimeUnit.SECONDS);

    assertThat(first).isCompleted();
    assertThat(second).isCompletedWithValueMatching(list -> list.getFirst() == null);
    assertThat(resolve(SHUFFLE, 7)).isNull();
    registry.add(SHUFFLE, 7);
    assertThat(domain.openRegions()).isZero();
  }
}
