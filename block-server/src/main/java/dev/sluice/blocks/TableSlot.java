package dev.sluice.blocks;

import dev.sluice.blocks.wire.MapOutputHeader;
import dev.sluice.blocks.wire.TableEntry;
import dev.sluice.blocks.wire.TableSegment;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * One map output's slot of a {@link TableSegment}. Who reads or writes it keeps the memory alive
 * meanwhile.
 *
 * @param memory of the whole segment
 */
record TableSlot(MemorySegment memory, TableSegment segment, int slot) {
  private static final ValueLayout.OfLong LONG =
      ValueLayout.JAVA_LONG.withOrder(ByteOrder.LITTLE_ENDIAN);

  int partitions() {
    return (int) segment.partitions();
  }

  void set(int partition, long offset, long length, long checksum) {
    long entry = segment.entry(partition, slot);
    memory.set(LONG, entry, TableEntry.first(offset, length));
    memory.set(LONG, entry + Long.BYTES, TableEntry.second(length, checksum));
  }

  /** Last of all: from now on there is a map output. */
  void set(MapOutputHeader header) {
    long[] longs = header.toLongs();
    MemorySegment.copy(longs, 0, memory, LONG, TableSegment.header(slot), longs.length);
  }

  /** The map output is gone. */
  void clear() {
    memory.set(LONG, TableSegment.header(slot) + (long) MapOutputHeader.STATE * Long.BYTES, 0);
  }

  /** Where a partition begins in the data file. */
  long offset(int partition) {
    return TableEntry.offset(first(partition));
  }

  /** Bytes of a partition. */
  long length(int partition) {
    return TableEntry.length(first(partition), second(partition));
  }

  /** Of a partition's bytes. */
  long checksum(int partition) {
    return TableEntry.checksum(second(partition));
  }

  private long first(int partition) {
    return memory.get(LONG, segment.entry(partition, slot));
  }

  private long second(int partition) {
    return memory.get(LONG, segment.entry(partition, slot) + Long.BYTES);
  }
}
