package dev.sluice.blocks.wire;

import dev.sluice.rdma.RemoteRegion;

/**
 * Registered memory with the partition tables of some map outputs of a shuffle, laid out by
 * partition: first a {@link MapOutputHeader} for each slot, then for each partition the {@link
 * TableEntry}s of all slots side by side. So what a reducer needs of all these map outputs is one
 * piece, and what it needs of consecutive partitions as well.
 *
 * <p>A slot is one map output's. It is written before anybody is told of it, and no other map
 * output ever has it; one that is gone has its header cleared.
 *
 * @param slots how many there is room for
 */
public record TableSegment(RemoteRegion region, int slots) {
  public static final int MAX_SLOTS = 64;

  /** One map output's, which is not registered: peers ask for what is in it. */
  public static TableSegment unregistered(int partitions) {
    return new TableSegment(new RemoteRegion(0, bytes(1, partitions), 0), 1);
  }

  public boolean isRegistered() {
    return region.address() != 0;
  }

  /** What a shuffle's first segment takes at most, unless one slot alone takes more. */
  private static final int FIRST_BYTES = 1 << 20;

  private static final int MAX_FIRST_SLOTS = 8;

  /**
   * Slots of the segment that comes after those that are used up: as many as there are, so that no
   * more than half of all are ever unused.
   *
   * @param used of all segments of the shuffle
   */
  public static int nextSlots(int used, int partitions) {
    long first = Math.clamp(FIRST_BYTES / bytes(1, partitions), 1, MAX_FIRST_SLOTS);
    return used == 0 ? Integer.highestOneBit((int) first) : Math.min(used, MAX_SLOTS);
  }

  /** Of a segment with so many slots. */
  public static long bytes(int slots, int partitions) {
    return slots * (MapOutputHeader.BYTES + (long) partitions * TableEntry.BYTES);
  }

  /** Whether there is such a slot, in memory that can be a segment. */
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

  /** Where a slot's header is, from the segment's begin. */
  public static long header(int slot) {
    return (long) slot * MapOutputHeader.BYTES;
  }

  /** Where a slot's entry for a partition is, from the segment's begin. */
  public long entry(int partition, int slot) {
    return header(slots) + ((long) partition * slots + slot) * TableEntry.BYTES;
  }

  /** The headers of slots [first, end). */
  public RemoteRegion headers(int first, int end) {
    return part(header(first), header(end));
  }

  /**
   * The entries of partitions [start, end), of the first one from a slot on, of the last one up to
   * a slot.
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
