// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.registry;

import static dev.sluice.blocks.directory.RegistryCounter.EVICTIONS;
import static dev.sluice.blocks.directory.RegistryCounter.REGISTERED_BYTES;
import static dev.sluice.blocks.directory.RegistryCounter.REGISTERED_REGIONS;
import static dev.sluice.blocks.directory.RegistryCounter.REJECTIONS;
import static dev.sluice.blocks.directory.RegistryCounter.STAGED_OUTPUTS;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.blocks.directory.FakeProtectionDomain;
import dev.sluice.blocks.directory.RegistrationMethod;
import dev.sluice.blocks.directory.RegistryCounter;
import dev.sluice.blocks.directory.RegistryLimits;
import dev.sluice.blocks.directory.TestMapOutputs;
import dev.sluice.blocks.wire.MapOutputHeader;
import dev.sluice.blocks.wire.MapOutputLocation;
import dev.sluice.blocks.wire.TableSegment;
import dev.sluice.rdma.PageSize;
import dev.sluice.rdma.transfer.CircuitBreaker;
import java.nio.file.Path;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Behaviour of the registry when the budget is used up. */
class RegistrationBudgetTest {
  private static final long IDLE_MS = 1_000;
  private static final long GRACE_MS = Registrar.GRACE_MS;

  private static final long SLAB_BYTES = PageSize.roundUp(16 << 10);

  /** Size of a page of data and the first slab. */
  private static final long OUTPUT_BYTES = PageSize.BYTES + SLAB_BYTES;

  @TempDir Path directory;
  private final FakeProtectionDomain domain = new FakeProtectionDomain();
  private final RecordingListener listener = new RecordingListener();
  private final AtomicLong nowMs = new AtomicLong();
  private TestMapOutputs outputs;
  private MapOutputRegistry registry;

  @BeforeEach
  void write() throws Exception {
    outputs = new TestMapOutputs(directory);
    for (int shuffleId = 1; shuffleId <= 4; shuffleId++) {
      outputs.write(shuffleId, 7, 100);
    }
  }

  @AfterEach
  void nothingIsLeft() throws Exception {
    registry.close();
    assertThat(domain.openRegions()).isZero();
    assertThat(outputs.mappings()).isZero();
    assertThat(registry.counters().get(REGISTERED_BYTES)).isZero();
    assertThat(registry.counters().get(REGISTERED_REGIONS)).isZero();
  }

  private void open(long maxBytes, int maxRegions) {
    open(maxBytes, maxRegions, listener);
  }

  private void open(long maxBytes, int maxRegions, MapOutputListener told) {
    registry =
        new MapOutputRegistry(
            domain,
            outputs.directories(),
            outputs::find,
            new RegistryLimits(maxBytes, maxRegions, IDLE_MS),
            told,
            nowMs::get);
  }

  /** Resolves a map output. Forgets a staged one and returns null: the next call tries anew. */
  private MapOutputHeader resolve(int shuffleId) throws Exception {
    MapOutputHeader header = ResolvedOutput.header(registry, shuffleId, 7);
    if (header.isStaged()) {
      registry.invalidate(shuffleId, 7);
      return null;
    }
    return header;
  }

  private MapOutputHeader resolve(int shuffleId, long atMs) throws Exception {
    nowMs.set(atMs);
    return resolve(shuffleId);
  }

  @Test
  void aBudgetOfZeroStagesEverything() throws Exception {
    open(0, 100);
    for (int shuffle = 1; shuffle <= 4; shuffle++) {
      assertThat(ResolvedOutput.header(registry, shuffle, 7).isStaged()).isTrue();
    }
    assertThat(listener.events).hasSize(4).allMatch(event -> event.startsWith("staged"));
    assertThat(domain.openRegions()).isZero();
    assertThat(registry.counters().get(STAGED_OUTPUTS)).isEqualTo(4);
  }

  /** Like an executor whose node serves its map outputs. */
  @Test
  void mapOutputsThatAnotherProcessServesTakeNoMemoryHere() throws Exception {
    open(OUTPUT_BYTES, 2);
    addUnserved();
    assertThat(registry.reader(1)).isNotNull();
    assertThat(registry.counters().get(STAGED_OUTPUTS)).isZero();
    assertThat(registry.counters().get(REGISTERED_BYTES)).isZero();
    assertThat(domain.openRegions()).isZero();
    assertThat(listener.events).isEmpty();
  }

  @Test
  void aPeerThatAsksForAMapOutputThatAnotherProcessServesHasItRegistered() throws Exception {
    open(OUTPUT_BYTES, 2);
    addUnserved();
    MapOutputHeader asked = resolve(1, 0);
    assertThat(asked.isStaged()).isFalse();
    assertThat(domain.read(asked.data())).isNotNull();
    assertThat(registry.reader(1)).isNotNull();
    assertThat(registry.counters().get(RegistryCounter.REGISTERED_OUTPUTS)).isOne();
    assertThat(listener.events).hasSize(1);
  }

  @Test
  void aMapOutputThatAPeerAsksForWithoutRoomIsStaged() throws Exception {
    open(0, 0);
    addUnserved();
    assertThat(ResolvedOutput.header(registry, 1, 7).isStaged()).isTrue();
    assertThat(registry.counters().get(STAGED_OUTPUTS)).isOne();
  }

  private void addUnserved() {
    registry.addUnserved(1, 7, outputs.find(1, 7));
  }

  @Test
  void filesAreNotOpenedIfReadsAreOff() throws Exception {
    registry =
        new MapOutputRegistry(
            domain, outputs.directories(), outputs::find, RegistryLimits.OFF, listener, nowMs::get);
    registry.add(1, 7);
    assertThat(registry.resolve(1, new long[] {7}).get(10, TimeUnit.SECONDS)).containsOnlyNulls();
    assertThat(listener.events).isEmpty();
  }

  /** The tables of these map outputs exceed the whole budget. */
  @Test
  void stagedMapOutputsTakeNoBudget() throws Exception {
    open(OUTPUT_BYTES, 2);
    MapOutputHeader first = resolve(1, 0);
    int[] partitions = new int[10_000];
    partitions[0] = 1;
    for (int map = 10; map < 20; map++) {
      outputs.write(2, map, partitions);
      assertThat(ResolvedOutput.header(registry, 2, map).isStaged()).isTrue();
    }
    assertThat(domain.read(first.data())).isNotNull();
    assertThat(registry.counters().get(REGISTERED_BYTES)).isEqualTo(OUTPUT_BYTES);
    assertThat(registry.counters().get(REGISTERED_REGIONS)).isEqualTo(2);
  }

  /** Withdrawing it would make no room. */
  @Test
  void stagedMapOutputsAreNotWithdrawnForRoom() throws Exception {
    open(2 * OUTPUT_BYTES, 100);
    outputs.write(5, 7, 1 << 20);
    assertThat(ResolvedOutput.header(registry, 5, 7).isStaged()).isTrue();
    resolve(1, 10);
    resolve(2, 20);
    assertThat(resolve(3, 2 * IDLE_MS)).isNull();
    assertThat(listener.events).contains("withdrawn 1").doesNotContain("withdrawn 5");
    assertThat(registry.output(5, 7)).isNotNull();
  }

  @Test
  void mapOutputsBeyondTheLimitOfDescriptorsAreStaged() throws Exception {
    int maxRegions = 16; // including the slab
    registry =
        new MapOutputRegistry(
            domain,
            outputs.directories(RegistrationMethod.OPEN_FILE),
            outputs::find,
            new RegistryLimits(1 << 20, maxRegions, IDLE_MS),
            listener,
            nowMs::get);
    for (int mapId = 0; mapId < 20; mapId++) {
      outputs.write(1, mapId, 1 << 20);
      MapOutputHeader location = ResolvedOutput.header(registry, 1, mapId);
      assertThat(location.isStaged()).as("map output %d", mapId).isEqualTo(mapId >= 15);
    }
    assertThat(outputs.openFiles()).isEqualTo(2 * 15);
    assertThat(registry.counters().get(REGISTERED_BYTES))
        .as("only the slab counts")
        .isEqualTo(SLAB_BYTES);
  }

  /** The kernel reclaims the pages when it needs memory. */
  @Test
  void onDemandMappingsTakeNoBytesOfTheBudget() throws Exception {
    registry =
        new MapOutputRegistry(
            domain,
            outputs.directories(RegistrationMethod.ON_DEMAND_MAPPING),
            outputs::find,
            new RegistryLimits(1 << 20, 100, IDLE_MS),
            listener,
            nowMs::get);
    for (int mapId = 0; mapId < 5; mapId++) {
      outputs.write(1, mapId, 1 << 20);
      assertThat(ResolvedOutput.header(registry, 1, mapId).isStaged()).isFalse();
    }
    assertThat(registry.counters().get(REGISTERED_BYTES))
        .as("only the slab counts")
        .isEqualTo(SLAB_BYTES);
    assertThat(outputs.mappings()).isEqualTo(5);
  }

  @Test
  void stagedMapOutputsAreRegisteredWhenTheirShuffleIsResolvedAnew() throws Exception {
    open(OUTPUT_BYTES, 100);
    resolve(1, 0);
    assertThat(ResolvedOutput.header(registry, 2, 7).isStaged()).isTrue();
    registry.unregister(1);
    assertThat(ResolvedOutput.header(registry, 2, 7).isStaged())
        .as("a staged map output stays staged")
        .isTrue();
    registry.evict(2);
    awaitTrue(() -> listener.events.contains("withdrawn 2"));
    nowMs.set(GRACE_MS);
    awaitTrue(() -> registry.output(2, 7) == null);
    assertThat(resolve(2)).isNotNull();
  }

  @Test
  void aShuffleInUseIsNotEvicted() throws Exception {
    open(OUTPUT_BYTES, 100);
    MapOutputHeader first = resolve(1, 0);
    assertThat(resolve(2, IDLE_MS - 1)).isNull();

    assertThat(domain.read(first.data())).isNotNull();
    assertThat(registry.counters().get(STAGED_OUTPUTS)).isEqualTo(1);
    assertThat(registry.counters().get(EVICTIONS)).isZero();
    assertThat(registry.counters().get(REGISTERED_BYTES)).isEqualTo(OUTPUT_BYTES);
  }

  /** A reader that has just located the shuffle goes on, and so do READs of its queue pair. */
  @Test
  void theIdleShuffleThatWasReadLeastRecentlyIsWithdrawnAndThenDeregistered() throws Exception {
    open(2 * OUTPUT_BYTES, 100);
    MapOutputHeader first = resolve(1, 0);
    MapOutputHeader second = resolve(2, 10);
    nowMs.set(20);
    registry.touch(1);
    assertThat(resolve(3, 2 * IDLE_MS)).isNull();

    assertThat(listener.events)
        .containsExactly("registered 1/7", "registered 2/7", "withdrawn 2", "staged 3/7");
    assertThat(domain.read(second.data())).isNotNull();
    assertThat(registry.counters().get(EVICTIONS)).isZero();

    nowMs.set(2 * IDLE_MS + GRACE_MS - 1);
    registry.touch(1);
    assertThat(resolve(3)).isNull();
    assertThat(domain.read(second.data())).isNotNull();
    assertThat(resolve(3, 2 * IDLE_MS + GRACE_MS)).isNotNull();

    assertThat(domain.read(second.data())).isNull();
    assertThat(domain.read(first.data())).isNotNull();
    assertThat(listener.events)
        .endsWith("withdrawn 2", "staged 3/7", "staged 3/7", "registered 3/7");
    assertThat(registry.counters().get(EVICTIONS)).isEqualTo(1);
  }

  @Test
  void withdrawnShufflesThatAreReadAreKept() throws Exception {
    open(OUTPUT_BYTES, 100);
    MapOutputHeader first = resolve(1, 0);
    assertThat(resolve(2, IDLE_MS)).isNull();
    registry.touch(1);
    awaitTrue(() -> listener.events.size() == 4);

    assertThat(listener.events)
        .containsExactly("registered 1/7", "withdrawn 1", "staged 2/7", "registered 1/7");
    assertThat(resolve(2, IDLE_MS + GRACE_MS)).isNull();
    assertThat(domain.read(first.data())).isNotNull();
    assertThat(registry.counters().get(EVICTIONS)).isZero();
  }

  /** The driver gets each segment once, instead of again with every map output. */
  @Test
  void keptShufflesArePublishedSegmentBySegment() throws Exception {
    List<TableSegment> published = new CopyOnWriteArrayList<>();
    MapOutputListener segments =
        new MapOutputListener() {
          @Override
          public void registered(int shuffleId, MapOutputLocation location) {
            if (location.segment().isRegistered()) {
              published.add(location.segment());
            }
          }

          @Override
          public void withdrawn(int shuffleId) {
            published.clear();
          }
        };
    open(256 << 10, 100, segments);
    for (int i = 0; i < 100; i++) {
      outputs.write(1, 1009L * i, 0);
      registry.resolve(1, new long[] {1009L * i}).get(10, TimeUnit.SECONDS);
    }
    Set<TableSegment> all = new LinkedHashSet<>(published);
    outputs.write(2, 7, 236 << 10);
    assertThat(resolve(2, IDLE_MS)).isNull();
    registry.touch(1);
    awaitTrue(() -> published.size() == 100);

    int changes = 0;
    for (int i = 1; i < 100; i++) {
      changes += published.get(i).equals(published.get(i - 1)) ? 0 : 1;
    }
    assertThat(changes).isEqualTo(all.size() - 1);
  }

  @Test
  void withdrawnMapOutputsAreResolvedAtTheirPlace() throws Exception {
    open(OUTPUT_BYTES, 100);
    MapOutputHeader first = resolve(1, 0);
    assertThat(resolve(2, IDLE_MS)).isNull();
    assertThat(resolve(1, IDLE_MS + 1)).isEqualTo(first);
    assertThat(resolve(2, IDLE_MS + GRACE_MS)).isNull();
    assertThat(domain.read(first.data())).isNotNull();
  }

  @Test
  void withdrawnShufflesAreUnregisteredAtOnce() throws Exception {
    open(OUTPUT_BYTES, 100);
    MapOutputHeader first = resolve(1, 0);
    assertThat(resolve(2, IDLE_MS)).isNull();
    registry.unregister(1);
    assertThat(domain.read(first.data())).isNull();
    assertThat(resolve(2)).isNotNull();
    assertThat(resolve(2, IDLE_MS + GRACE_MS)).isNotNull();
    assertThat(registry.counters().get(EVICTIONS)).isZero();
  }

  /** The registration looks for room while its withdrawn shuffle is being unregistered. */
  @Test
  void unregisteringAShuffleThatLooksForRoomLeavesNothing() throws Exception {
    CountDownLatch looking = new CountDownLatch(1);
    CountDownLatch mayGoOn = new CountDownLatch(1);
    AtomicBoolean waits = new AtomicBoolean();
    registry =
        new MapOutputRegistry(
            domain,
            outputs.directories(),
            outputs::find,
            new RegistryLimits(OUTPUT_BYTES, 100, 0),
            listener,
            () -> {
              if (waits.get() && isLookingForRoom()) {
                looking.countDown();
                TestMapOutputs.await(mayGoOn);
              }
              return nowMs.get();
            });
    resolve(1);
    awaitTrue(() -> listener.events.contains("withdrawn 1"));
    outputs.write(1, 8, 100);
    waits.set(true);
    registry.add(1, 8);
    TestMapOutputs.await(looking);
    Thread unregistering = Thread.ofVirtual().start(() -> registry.unregister(1));
    awaitTrue(() -> unregistering.getState() == Thread.State.TIMED_WAITING);
    mayGoOn.countDown();
    unregistering.join();
    assertThat(registry.counters().get(RegistryCounter.REGISTERED_OUTPUTS)).isZero();
  }

  private static boolean isLookingForRoom() {
    return StackWalker.getInstance()
        .walk(frames -> frames.anyMatch(frame -> frame.getMethodName().equals("reserve")));
  }

  @Test
  void thereIsRoomBeforeItIsNeeded() throws Exception {
    open(4 * OUTPUT_BYTES, 100);
    for (int shuffle = 1; shuffle <= 4; shuffle++) {
      assertThat(resolve(shuffle, shuffle)).isNotNull();
    }
    nowMs.set(2 * IDLE_MS);
    awaitTrue(() -> listener.events.contains("withdrawn 1"));
    nowMs.set(2 * IDLE_MS + GRACE_MS);
    awaitTrue(() -> registry.counters().get(EVICTIONS) == 1);

    outputs.write(5, 7, 100);
    assertThat(resolve(5)).isNotNull();
    assertThat(listener.events).doesNotContain("withdrawn 3");
  }

  /** Like an iterative job: each shuffle is read while the next is written, and never again. */
  @Test
  void aJobOfManyShufflesHasEachRegistered() throws Exception {
    open(40 * OUTPUT_BYTES, 1_000);
    for (int shuffle = 1; shuffle <= 200; shuffle++) {
      outputs.write(shuffle, 7, 100);
      assertThat(resolve(shuffle, shuffle * 2_000L)).as("shuffle %d", shuffle).isNotNull();
    }
    assertThat(registry.counters().get(STAGED_OUTPUTS)).isZero();
    assertThat(registry.counters().get(EVICTIONS)).isPositive();
  }

  private static void awaitTrue(BooleanSupplier condition) throws InterruptedException {
    for (int i = 0; i < 1_000 && !condition.getAsBoolean(); i++) {
      Thread.sleep(10);
    }
    assertThat(condition.getAsBoolean()).isTrue();
  }

  @Test
  void touchingKeepsAShuffleFromEviction() throws Exception {
    open(OUTPUT_BYTES, 100);
    MapOutputHeader first = resolve(1, 0);
    nowMs.set(2 * IDLE_MS);
    registry.touch(1);

    assertThat(resolve(2, 2 * IDLE_MS + 1)).isNull();
    assertThat(domain.read(first.data())).isNotNull();
  }

  @Test
  void evictedMapOutputsAreRegisteredAgainWhenResolved() throws Exception {
    open(OUTPUT_BYTES, 100);
    resolve(1, 0);
    resolve(2, IDLE_MS);
    assertThat(resolve(2, IDLE_MS + GRACE_MS)).isNotNull();
    assertThat(resolve(1, IDLE_MS + GRACE_MS + 1)).isNull();

    assertThat(resolve(1, 2 * IDLE_MS + GRACE_MS)).isNull();
    MapOutputHeader again = resolve(1, 2 * IDLE_MS + 2 * GRACE_MS);
    assertThat(domain.read(again.data())).hasSize(100);
    assertThat(listener.events)
        .filteredOn(event -> !event.startsWith("staged"))
        .containsExactly(
            "registered 1/7", "withdrawn 1", "registered 2/7", "withdrawn 2", "registered 1/7");
  }

  @Test
  void mapOutputsLargerThanTheBudgetEvictNothing() throws Exception {
    open(2 * OUTPUT_BYTES, 100);
    outputs.write(5, 7, 100_000);
    MapOutputHeader first = resolve(1, 0);

    assertThat(resolve(5, 2 * IDLE_MS)).isNull();
    assertThat(resolve(5, 2 * IDLE_MS + GRACE_MS)).isNull();
    assertThat(domain.read(first.data())).isNotNull();
    assertThat(listener.events).containsExactly("registered 1/7", "staged 5/7", "staged 5/7");
  }

  @Test
  void regionsAreLimitedToo() throws Exception {
    open(Long.MAX_VALUE, 3);
    assertThat(resolve(1, 0)).isNotNull();
    assertThat(resolve(2, 0)).isNull();
    assertThat(resolve(2, IDLE_MS)).isNull();
    assertThat(resolve(2, IDLE_MS + GRACE_MS)).isNotNull();

    assertThat(registry.counters().get(REGISTERED_REGIONS)).isEqualTo(2);
  }

  @Test
  void theProvidersOwnLimitBecomesTheBudget() throws Exception {
    open(Long.MAX_VALUE, 100);
    domain.limitBytes(OUTPUT_BYTES);
    MapOutputHeader first = resolve(1, 0);
    assertThat(resolve(2, 0)).isNull();
    assertThat(resolve(3, 0)).isNull();

    assertThat(domain.read(first.data())).isNotNull();
    assertThat(registry.counters().get(STAGED_OUTPUTS)).isEqualTo(2);
    assertThat(outputs.mappings()).isEqualTo(1);
    assertThat(resolve(4, IDLE_MS)).isNull();
    assertThat(resolve(4, IDLE_MS + GRACE_MS)).isNotNull();
  }

  @Test
  void aLimitOfTheProviderThatPassesIsForgottenAfterAWhile() throws Exception {
    open(Long.MAX_VALUE, 100);
    MapOutputHeader first = resolve(1, 0);
    domain.limitBytes(OUTPUT_BYTES);
    assertThat(resolve(2, 0)).isNull();
    domain.limitBytes(Long.MAX_VALUE);
    nowMs.set(CircuitBreaker.FIRST_MS - 1);
    registry.touch(1);
    assertThat(resolve(2)).as("too early to retry").isNull();
    assertThat(resolve(2, CircuitBreaker.FIRST_MS)).isNotNull();

    assertThat(domain.read(first.data())).isNotNull();
    assertThat(resolve(3)).isNotNull();
  }

  @Test
  void aLimitOfTheProviderThatLastsIsTriedLessAndLess() throws Exception {
    open(Long.MAX_VALUE, 100);
    domain.limitBytes(0);
    for (long ms = 0; ms < 1_300_000; ms += 1_000) {
      assertThat(resolve(1, ms)).isNull();
    }

    assertThat(domain.attempts()).as("at 0, 10, 30, 70, 150, 310, 630 and 1230 s").isEqualTo(8);
    domain.limitBytes(Long.MAX_VALUE);
    assertThat(resolve(1, 4 * CircuitBreaker.MAX_MS)).isNotNull();
  }

  @Test
  void bytesReleasedBelowTheProvidersLimitAreUsedAtOnce() throws Exception {
    open(Long.MAX_VALUE, 100);
    domain.limitBytes(OUTPUT_BYTES);
    resolve(1, 0);
    assertThat(resolve(2, 0)).isNull();
    registry.unregister(1);

    assertThat(resolve(2, 0)).isNotNull();
  }

  /** A registration that takes no bytes of the budget may be refused, too. */
  @ParameterizedTest
  @EnumSource(names = {"OPEN_FILE", "ON_DEMAND_MAPPING"})
  void aRefusalOfMemoryThatTakesNoBytesLimitsTheRegions(RegistrationMethod form) throws Exception {
    registry =
        new MapOutputRegistry(
            domain,
            outputs.directories(form),
            outputs::find,
            new RegistryLimits(1 << 20, 100, IDLE_MS),
            listener,
            nowMs::get);
    assertThat(isRegistered(0)).isTrue();
    domain.limitBytes(0);
    assertThat(isRegistered(1)).isFalse();
    int attempts = domain.attempts();
    assertThat(isRegistered(2)).isFalse();
    assertThat(domain.attempts()).as("attempts while the limit holds").isEqualTo(attempts);

    domain.limitBytes(Long.MAX_VALUE);
    nowMs.set(CircuitBreaker.FIRST_MS);
    assertThat(isRegistered(3)).isTrue();
  }

  private boolean isRegistered(long mapId) throws Exception {
    outputs.write(1, mapId, 100);
    registry.touch(1);
    return !ResolvedOutput.header(registry, 1, mapId).isStaged();
  }

  @Test
  void aHeapThatIsFullHasTheMapOutputStagedAndLowersNothing() throws Exception {
    open(Long.MAX_VALUE, 100);
    domain.whenRegistering(
        () -> {
          domain.whenRegistering(() -> {});
          throw new OutOfMemoryError("scripted");
        });
    assertThat(resolve(1, 0)).isNull();

    assertThat(registry.counters().get(STAGED_OUTPUTS)).isEqualTo(1);
    assertThat(registry.counters().get(REJECTIONS)).isZero();
    assertThat(resolve(2, 0)).isNotNull();
    assertThat(resolve(1, 0)).isNotNull();
  }

  /** The mapping stays until the shuffle's memory is freed, but it takes no memory. */
  @Test
  void aFailedRegistrationGivesBackTheBytesThatItReserved() throws Exception {
    open(Long.MAX_VALUE, 100);
    resolve(1, 0);
    outputs.write(1, 8, 100_000);
    domain.whenRegistering(RegistrationBudgetTest::fail);

    assertThat(registry.resolve(1, new long[] {8}).get(10, TimeUnit.SECONDS)).containsOnlyNulls();
    assertThat(registry.counters().get(REJECTIONS)).isEqualTo(1);
    assertThat(registry.counters().get(REGISTERED_BYTES)).isEqualTo(OUTPUT_BYTES);
    assertThat(registry.counters().get(REGISTERED_REGIONS)).isEqualTo(outputs.mappings() + 1);
  }

  private static void fail() {
    throw new IllegalStateException("scripted");
  }
}
