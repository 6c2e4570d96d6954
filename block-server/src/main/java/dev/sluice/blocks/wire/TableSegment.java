// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.wire;

import dev.sluice.rdma.RemoteRegion;
import java.util.function.LongPredicate;

/**
 * Address and layout of registered memory with the partition tables of some map outputs of a
 * shuffle. A registered shuffle allocates and owns the memory; peers READ it. Only an {@link
 * #unregistered} segment has no memory. The memory begins with a {@link MapOutputHeader} for each
 * slot. For each partition follow the {@link TableEntry}s of all slots, side by side. A reducer
 * therefore gets its entries for all these map outputs in one piece, also for consecutive
 * partitions.
 *
 * <p>A slot belongs to one map output and is never used for another. It is written before its
 * location is published, and its header is cleared when the map output is gone.
 *
 * @param slots number of slots
 */
public record TableSegment(RemoteRegion region, int slots) {
  /** The wire carries slots as one signed byte, and peers reject a segment with more. */
  public static final int MAX_SLOTS = 64;

  /** Segment of a map output that is not registered: peers ask for its entries. */
  public static TableSegment unregistered(int partitions) {
    return new TableSegment(new RemoteRegion(0, bytes(1, partitions), 0), 1);
  }

  public boolean isRegistered() {
    return region.address() != 0;
  }

  /** Size limit of a shuffle's first segment, unless one slot alone is larger. */
  private static final int FIRST_BYTES = 1 << 20;

  /** A shuffle with one map output wastes seven slots at most. */
  private static final int MAX_FIRST_SLOTS = 8;

  /**
   * Number of slots in a shuffle's next segment. It has as many slots as all segments before it, so
   * that at most half of all slots are unused.
   *
   * @param used number of slots in all segments of the shuffle
   */
  public static int nextSlots(int used, int partitions) {
    long first = Math.clamp(FIRST_BYTES / bytes(1, partitions), 1, MAX_FIRST_SLOTS);
    return used == 0 ? Integer.highestOneBit((int) first) : Math.min(used, MAX_SLOTS);
  }

  /**
   * Halves a number of slots until there is room for the segment, or one slot is left.
   *
   * @param hasRoom true if there is room for a segment of so many bytes
   */
  public static int slotsThatFit(int most, int partitions, LongPredicate hasRoom) {
    int slots = most;
    while (slots > 1 && !hasRoom.test(bytes(slots, partitions))) {
      slots /= 2;
    }
    return slots;
  }

  /** Size of a segment. */
  public static long bytes(int slots, int partitions) {
    return slots * (MapOutputHeader.BYTES + (long) partitions * TableEntry.BYTES);
  }

  /** Returns true if the slot exists and the region has the size of a segment. */
  public boolean hasSlot(int slot) {
    return slot >= 0
        && slot < slots
        && slots <= (isRegistered() ? MAX_SLOTS : 1)
        && partitions() > 0
        && partitions() <= Integer.MAX_VALUE
        && region.length() == bytes(slots, (int) partitions());
  }

  public long partitions() {
    return (region.length() / slots - MapOutputHeader.BYTES) / TableEntry.BYTES;
  }

  /** Offset of a slot's header in the segment. */
  public static long header(int slot) {
    return (long) slot * MapOutputHeader.BYTES;
  }

  /** Offset of a slot's entry for a partition in the segment. */
  public long entry(int partition, int slot) {
    return header(slots) + ((long) partition * slots + slot) * TableEntry.BYTES;
  }

  /** Headers of slots [first, end). */
  public RemoteRegion headers(int first, int end) {
    return part(header(first), header(end));
  }

  /**
   * Entries of partitions [start, end). They begin at a slot of the first partition and end at a
   * slot of the last one.
   *
   * @param lastSlot inclusive
   */
  public RemoteRegion entries(int start, int end, int firstSlot, int lastSlot) {
    return part(entry(start, firstSlot), entry(end - 1, lastSlot + 1));
  }

  private RemoteRegion part(long from, long to) {
    return new RemoteRegion(region.address() + from, to - from, region.rkey());
  }
}
