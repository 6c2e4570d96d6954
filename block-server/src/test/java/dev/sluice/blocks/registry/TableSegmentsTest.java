// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.registry;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.blocks.wire.MapOutputHeader;
import dev.sluice.blocks.wire.MapOutputLocation;
import dev.sluice.blocks.wire.TableSegment;
import dev.sluice.rdma.transfer.CircuitBreaker;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** Assignment of map outputs to segments and slots, next to a registered map output. */
class TableSegmentsTest extends RegisteredOutputFixture {
  private MapOutputLocation locate(long mapId) throws Exception {
    return registry.resolve(SHUFFLE, new long[] {mapId}).get(10, TimeUnit.SECONDS).getFirst();
  }

  /** Reads a header as a peer does; null if the slot does not belong to the map output. */
  private MapOutputHeader remoteHeader(MapOutputLocation location) {
    long[] longs = new long[MapOutputHeader.LONGS];
    TableSegment segment = location.segment();
    ByteBuffer.wrap(domain.read(segment.headers(location.slot(), location.slot() + 1)))
        .order(ByteOrder.LITTLE_ENDIAN)
        .asLongBuffer()
        .get(longs);
    return MapOutputHeader.of(location.mapId(), longs, 0);
  }

  @Test
  void eachSegmentHasAsManySlotsAsThereWere() throws Exception {
    Set<TableSegment> segments = new LinkedHashSet<>();
    Set<MapOutputLocation> locations = new LinkedHashSet<>();
    segments.add(locate(MAP).segment());
    for (long mapId = 100; mapId < 300; mapId++) {
      outputs.write(SHUFFLE, mapId, 0, 0, 0, 0);
      locations.add(locate(mapId));
      segments.add(locate(mapId).segment());
    }
    assertThat(segments).extracting(TableSegment::slots).containsExactly(8, 8, 16, 32, 64, 64, 64);
    assertThat(locations).hasSize(200).allMatch(location -> remoteHeader(location) != null);
  }

  @Test
  void aLargeTableSharesItsSegmentWithFewSlots() {
    assertThat(TableSegment.nextSlots(0, 10_000)).isEqualTo(4);
    assertThat(TableSegment.nextSlots(4, 10_000)).isEqualTo(4);
    assertThat(TableSegment.nextSlots(0, 1_000_000)).isEqualTo(1);
    assertThat(TableSegment.bytes(4, 10_000)).isLessThan(4 * 160_100);
  }

  /** A peer that knows the slot of a removed or replaced map output finds nothing there. */
  @Test
  void aSlotIsNeverUsedAgain() throws Exception {
    MapOutputLocation before = locate(MAP);
    outputs.write(SHUFFLE, 8, 10, 20, 30, 40);
    MapOutputLocation other = locate(8);
    assertThat(remoteHeader(before)).isNotNull();

    outputs.write(SHUFFLE, MAP, 1, 2, 3, 4);
    registry.invalidate(SHUFFLE, MAP);
    assertThat(remoteHeader(before)).isNull();
    MapOutputLocation after = locate(MAP);

    assertThat(remoteHeader(before)).isNull();
    assertThat(after.slot()).isNotIn(before.slot(), other.slot());
    assertThat(remoteHeader(after).data().length()).isEqualTo(10);
    assertThat(remoteHeader(other).data().length()).isEqualTo(100);
    MapOutputLocation wrong = new MapOutputLocation(9, after.segment(), after.slot());
    assertThat(remoteHeader(wrong)).as("of another map output").isNull();
  }

  /** Segments are smaller when the budget is nearly used up: each of these takes a page. */
  @Test
  void segmentsFitTheRestOfTheBudget() throws Exception {
    registry.close();
    registry = registry(24 << 10, () -> 0);
    List<MapOutputLocation> located = new ArrayList<>();
    for (long mapId = 0; mapId < 20; mapId++) {
      outputs.write(SHUFFLE, mapId, new int[60]);
      located.add(locate(mapId));
    }
    located.removeIf(location -> location == null || !location.segment().isRegistered());
    assertThat(located).hasSizeGreaterThanOrEqualTo(16);
    assertThat(located).extracting(location -> location.segment().slots()).contains(8);
    assertThat(located).allMatch(location -> remoteHeader(location) != null);
  }

  /** Data and table share the rest of the budget. */
  @Test
  void segmentsLeaveRoomForTheData() throws Exception {
    registry.close();
    registry = registry(40 << 10, () -> 0);
    int[] partitions = new int[200];
    partitions[0] = 20 << 10;
    outputs.write(SHUFFLE, 1, partitions);

    assertThat(locate(1).segment().slots()).isEqualTo(4);
  }

  /** Simulates a limit of locked memory that the budget does not know. */
  @Test
  void segmentsAreSmallerWhereTheProviderRefusesLargeOnes() throws Exception {
    registry.close();
    AtomicLong nowMs = new AtomicLong();
    registry = registry(1 << 30, nowMs::get);
    domain.limitBytes((128 + 128 + 64) << 10);
    int refused = 0;
    for (long mapId = 100; mapId < 120 + refused; mapId++) {
      outputs.write(SHUFFLE, mapId, new int[1000]);
      if (!locate(mapId).segment().isRegistered()) {
        refused++;
        nowMs.addAndGet(CircuitBreaker.MAX_MS);
      }
      assertThat(refused).isLessThanOrEqualTo(2);
    }
  }
}
