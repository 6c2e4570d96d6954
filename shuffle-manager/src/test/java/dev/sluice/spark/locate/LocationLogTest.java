// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.locate;

import static dev.sluice.spark.locate.Samples.location;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.management.ThreadMXBean;
import dev.sluice.blocks.wire.MapOutputLocation;
import dev.sluice.blocks.wire.TableSegment;
import dev.sluice.rdma.RemoteRegion;
import dev.sluice.spark.locate.Samples.Logged;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

class LocationLogTest {
  private final LocationLog log = new LocationLog();
  private final LocationTable table = new LocationTable();

  @Test
  void keepsLocationsAsTheyWere() throws IOException {
    for (int i = 0; i < 1000; i++) {
      log.append(1 + i % 7, location(i));
    }
    assertThat(Samples.read(log.records(0)))
        .hasSize(1000)
        .allMatch(
            logged -> {
              long mapId = logged.mapId();
              return logged.equals(new Logged((int) (1 + mapId % 7), location(mapId)));
            });
  }

  /** Logs locations of 1,000 executors, which publish their map outputs one by one. */
  @Test
  void aLocationTakesFewBytes() {
    int executors = 1000;
    int slots = 64;
    for (int mapId = 0; mapId < slots * executors; mapId++) {
      int executor = 1 + mapId % executors;
      RemoteRegion region =
          new RemoteRegion(
              0x7f00_0000_0000L + executor, TableSegment.bytes(slots, 10_000), executor << 8);
      MapOutputLocation location =
          new MapOutputLocation(1000 + mapId, new TableSegment(region, slots), mapId / executors);
      log.append(executor, location);
    }
    assertThat(log.bytes()).isLessThan(6 * slots * executors);
  }

  /** Unregistered segments all look the same. */
  @Test
  void mapOutputsThatAreStagedAreFoundAndForgottenOneByOne() throws IOException {
    TableSegment nowhere = TableSegment.unregistered(80_000);
    for (long mapId = 0; mapId < 100; mapId++) {
      log.append(1, new MapOutputLocation(mapId, nowhere, 0));
    }
    assertThat(log.bytes()).isLessThan(100 * 6);
    table.append(log.records(0));
    table.remove(new MapOutputLocation(5, nowhere, 0));
    for (long mapId = 0; mapId < 100; mapId++) {
      int index = table.index(mapId, LocationTable.ABSENT);
      assertThat(table.isOf(index, 1)).isEqualTo(mapId != 5);
      if (mapId != 5) {
        assertThat(table.location(index)).isEqualTo(new MapOutputLocation(mapId, nowhere, 0));
      }
    }
  }

  @Test
  void detectsBytesThatAreNotRecords() throws IOException {
    log.append(3, location(5));
    byte[] record = log.records(0);
    table.append(record);
    table.append(new byte[0]);
    assertThat(table.size()).isEqualTo(1);
    for (int length = 1; length < record.length; length++) {
      byte[] cut = Arrays.copyOf(record, length);
      boolean isSegment = length == record.length - 3;
      if (!isSegment) {
        assertThatThrownBy(() -> table.append(cut)).isInstanceOf(IOException.class);
      }
    }
    // Wrong values: executor 0, slots 0, a missing segment, a slot outside of its segment.
    int[][] wrong = {{1, 0}, {2, 0}, {record.length - 3, 9}, {record.length - 2, 8}};
    for (int[] change : wrong) {
      byte[] changed = record.clone();
      changed[change[0]] = (byte) change[1];
      assertThatThrownBy(() -> table.append(changed))
          .as("byte %d is %d", change[0], change[1])
          .isInstanceOf(IOException.class);
    }
    assertThat(table.bytes()).isEqualTo(record.length);
    assertThat(table.location(0)).isEqualTo(location(5));
  }

  @Test
  void dropsTheRecordsOfAnExecutorAndKeepsTheOrderOfTheOthers() throws IOException {
    for (int i = 0; i < 10; i++) {
      log.append(1 + i % 2, location(i));
    }
    assertThat(log.remove(1)).isTrue();
    assertThat(log.remove(1)).isFalse();
    assertThat(Samples.read(log.records(0)))
        .extracting(Logged::mapId)
        .containsExactly(1L, 3L, 5L, 7L, 9L);
    log.append(1, location(4));
    assertThat(Samples.read(log.records(0)).getLast()).isEqualTo(new Logged(1, location(4)));
  }

  /** An application may release a thousand executors at once. */
  @Test
  void losingManyExecutorsWritesTheRecordsOnce() throws IOException {
    for (int i = 0; i < 20_000; i++) {
      log.append(1 + i % 1000, location(i));
    }
    long before = allocatedBytes();
    for (int executor = 1; executor < 1000; executor++) {
      assertThat(log.remove(executor)).isTrue();
    }
    assertThat(Samples.read(log.records(0))).hasSize(20).allMatch(kept -> kept.executor() == 1000);
    assertThat(allocatedBytes() - before).isLessThan(20 << 20);
  }

  private static long allocatedBytes() {
    return ManagementFactory.getPlatformMXBean(ThreadMXBean.class)
        .getThreadAllocatedBytes(Thread.currentThread().threadId());
  }

  @Test
  void anExecutorWhoseRecordsWereDroppedMayPublishAgainAtOnce() throws IOException {
    log.append(1, location(0));
    log.append(2, location(1));
    log.remove(1);
    log.append(2, location(2));
    log.append(1, location(3));
    log.remove(2);
    assertThat(Samples.read(log.records(0))).containsExactly(new Logged(1, location(3)));
  }

  @Test
  void aTableFindsTheSameEntriesAsAHashMap() throws IOException {
    Random random = new Random(42);
    Map<Long, Logged> expected = new HashMap<>();
    for (int round = 0; round < 50; round++) {
      int known = log.bytes();
      for (int i = random.nextInt(200); i > 0; i--) {
        long mapId = random.nextInt(3000);
        Logged logged = new Logged(1 + random.nextInt(9), location(mapId, random.nextInt(4)));
        log.append(logged.executor(), logged.location());
        expected.put(mapId, logged);
      }
      table.append(log.records(known));
      assertThat(table.bytes()).isEqualTo(log.bytes());
      assertThat(table.size()).isEqualTo(expected.size());
    }
    int index = LocationTable.ABSENT;
    for (long mapId = 0; mapId < 3500; mapId += 1 + random.nextInt(2)) {
      index = table.index(mapId, index);
      Logged logged = expected.get(mapId);
      if (logged == null) {
        assertThat(index).isEqualTo(LocationTable.ABSENT);
      } else {
        assertThat(table.location(index)).isEqualTo(logged.location());
        assertThat(table.isOf(index, logged.executor())).isTrue();
        assertThat(table.isOf(index, logged.executor() + 1)).isFalse();
      }
    }
  }

  @Test
  void aLocationIsForgottenWhileItIsTheSame() throws IOException {
    log.append(1, location(5, 1));
    table.append(log.records(0));
    table.remove(location(5));
    assertThat(table.isOf(table.index(5, LocationTable.ABSENT), 1)).isTrue();
    table.remove(location(5, 1));
    assertThat(table.isOf(table.index(5, LocationTable.ABSENT), 1)).isFalse();
  }

  @Test
  void registeredAndStagedByTurnsTakeFewBytes() throws IOException {
    int slots = 64;
    TableSegment nowhere = TableSegment.unregistered(10_000);
    TableSegment somewhere =
        new TableSegment(
            new RemoteRegion(0x7f00_0000_0000L, TableSegment.bytes(slots, 10_000), 7 << 8), slots);
    for (int mapId = 0; mapId < 2 * slots; mapId++) {
      log.append(
          1,
          mapId % 2 == 0
              ? new MapOutputLocation(mapId, nowhere, 0)
              : new MapOutputLocation(mapId, somewhere, mapId / 2));
    }
    LocationReader.Locations all = new LocationReader().read(log.records(0));
    assertThat(log.bytes()).isLessThan(12 * 2 * slots);
    assertThat(Arrays.stream(all.places(), 0, all.count()).map(place -> place / slots).distinct())
        .as("segments")
        .hasSize(2);
  }
}
