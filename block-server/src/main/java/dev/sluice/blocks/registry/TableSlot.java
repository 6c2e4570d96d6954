// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.registry;

import dev.sluice.blocks.registry.MapOutput.PartitionTable;
import dev.sluice.blocks.wire.MapOutputHeader;
import dev.sluice.blocks.wire.MapOutputLocation;
import dev.sluice.blocks.wire.TableEntry;
import dev.sluice.blocks.wire.TableSegment;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * A map output's slot of a {@link TableSegment}, where peers READ it. {@link TableSegments} makes
 * it; {@link MapOutput} reads it on any thread that has retained the memory. A thread that writes
 * it holds the lock of the {@link ShuffleOutputs}.
 *
 * @param owner owner of the memory
 * @param memory memory of the whole segment
 */
record TableSlot(ShuffleMemory owner, MemorySegment memory, TableSegment segment, int slot)
    implements PartitionTable {
  private static final ValueLayout.OfLong LONG =
      ValueLayout.JAVA_LONG.withOrder(ByteOrder.LITTLE_ENDIAN);

  @Override
  public MapOutputLocation location(long mapId) {
    return new MapOutputLocation(mapId, segment, slot);
  }

  @Override
  public int partitions() {
    return (int) segment.partitions();
  }

  void set(int partition, long offset, long length, long checksum) {
    long entry = segment.entry(partition, slot);
    memory.set(LONG, entry, TableEntry.first(offset, length));
    memory.set(LONG, entry + Long.BYTES, TableEntry.second(length, checksum));
  }

  /** Writes the header, after all entries: from then on readers find the map output. */
  void set(MapOutputHeader header) {
    long[] longs = header.toLongs();
    MemorySegment.copy(longs, 0, memory, LONG, TableSegment.header(slot), longs.length);
  }

  @Override
  public void clear() {
    memory.set(LONG, TableSegment.header(slot) + (long) MapOutputHeader.STATE * Long.BYTES, 0);
  }

  @Override
  public long[] entries(int start, int end) {
    long[] entries = new long[(end - start) * TableEntry.LONGS];
    for (int partition = start; partition < end; partition++) {
      int at = (partition - start) * TableEntry.LONGS;
      MemorySegment.copy(
          memory, LONG, segment.entry(partition, slot), entries, at, TableEntry.LONGS);
    }
    return entries;
  }

  @Override
  public long[] known(int start, int end) {
    return entries(start, end);
  }

  @Override
  public boolean retain() {
    return owner.retain();
  }

  @Override
  public void release() {
    owner.release();
  }
}
