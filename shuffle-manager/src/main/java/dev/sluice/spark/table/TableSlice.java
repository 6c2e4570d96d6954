// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.table;

import dev.sluice.blocks.wire.MapOutputHeader;
import dev.sluice.blocks.wire.MapOutputLocation;
import dev.sluice.blocks.wire.TableEntry;
import dev.sluice.blocks.wire.TableSegment;
import dev.sluice.rdma.RemoteRegion;
import dev.sluice.spark.transport.FallbackReason;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Part of a segment of partition tables that a reader needs: the headers of some slots, and their
 * entries for some partitions.
 *
 * <p>{@link LocatedBlocks} makes it and calls {@link #want} for all blocks first. Then {@link
 * TableReader} sets the arrays, and delivery threads fill them, each its own longs. LocatedBlocks
 * reads it after all of them, unless it {@link #failed}, and keeps the arrays alone.
 */
final class TableSlice {
  /** Up to 1/8 of the slots, one READ per partition costs less than READing those of all slots. */
  private static final int SPARSE = 8;

  /** With so few partitions, the tasks of an executor need most of the entries over time. */
  static final int FEW_PARTITIONS = 32;

  private static final long[] NONE = {};

  /** Entries of partitions [start, end), from the first wanted slot of the first partition on. */
  final class Rows {
    private final int start;
    private final int end;
    private long[] entries = NONE;

    private Rows(int start, int end) {
      this.start = start;
      this.end = end;
    }

    int start() {
      return start;
    }

    int end() {
      return end;
    }

    /**
     * Returns the regions to READ, one after the other: a single one, unless most of it would be
     * entries of other slots.
     */
    List<RemoteRegion> regions() {
      return isSparse()
          ? IntStream.range(start, end).mapToObj(row -> region(row, row + 1)).toList()
          : List.of(region(start, end));
    }

    private RemoteRegion region(int from, int to) {
      return segment.entries(from, to, firstSlot(), lastSlot());
    }

    private Rows with(Rows other) {
      return new Rows(Math.min(start, other.start), Math.max(end, other.end));
    }

    /** Sets the array that READs are to fill. */
    void entries(long[] ofRegions) {
      entries = ofRegions;
    }

    private int index(int slot, int partition) {
      return (partition - start) * stride() + (slot - firstSlot()) * TableEntry.LONGS;
    }
  }

  private final TableSegment segment;

  /** Rows by their first partition; they neither overlap nor adjoin. */
  private final TreeMap<Integer, Rows> rows = new TreeMap<>();

  /** Bit set of the slots that are wanted; a segment has at most 64. */
  private long slots;

  /** Headers of all slots, valid for the wanted ones; followed by all entries if all is READ. */
  private long[] headers = NONE;

  private @Nullable FallbackReason failure;

  /**
   * @param first a location in the segment
   */
  TableSlice(MapOutputLocation first) {
    segment = first.segment();
  }

  /** Adds partitions [start, end) of a slot; most blocks want the same ones, or adjoining ones. */
  void want(int slot, int start, int end) {
    slots |= 1L << slot;
    Rows all = new Rows(start, end);
    Map.Entry<Integer, Rows> known = rows.floorEntry(end);
    while (known != null && known.getValue().end >= all.start) {
      rows.remove(known.getKey());
      all = all.with(known.getValue());
      known = rows.lowerEntry(known.getKey());
    }
    rows.put(all.start, all);
  }

  TableSegment segment() {
    return segment;
  }

  long slots() {
    return slots;
  }

  /** Returns true if all of the segment may be READ at once. */
  boolean hasFewPartitions() {
    return segment.partitions() <= FEW_PARTITIONS;
  }

  /** Returns true if all of the segment is READ at once, so that the rows are not. */
  boolean isWhole() {
    return hasFewPartitions() && headers.length == segmentLongs();
  }

  int segmentLongs() {
    return Math.toIntExact(segment.region().length() / Long.BYTES);
  }

  int firstSlot() {
    return Long.numberOfTrailingZeros(slots);
  }

  int lastSlot() {
    return Long.SIZE - 1 - Long.numberOfLeadingZeros(slots);
  }

  /** Counts the wanted slots and those between them. */
  private int wantedSlots() {
    return lastSlot() + 1 - firstSlot();
  }

  private boolean isSparse() {
    return SPARSE * wantedSlots() <= segment.slots();
  }

  Collection<Rows> rows() {
    return rows.values();
  }

  /** Sets the headers, cached or still to be filled; or the array for all of the segment. */
  void headers(long[] ofSegment) {
    headers = ofSegment;
  }

  long[] headers() {
    return headers;
  }

  void failed(FallbackReason reason) {
    failure = reason;
  }

  /** Returns the reason why there is no data; null if all has arrived. */
  @Nullable FallbackReason failure() {
    return failure;
  }

  /** Returns the header; null if the slot does not belong to the map output. */
  @Nullable MapOutputHeader header(int slot, long mapId) {
    return MapOutputHeader.of(mapId, headers, slot * MapOutputHeader.LONGS);
  }

  /** Returns the longs with the entries of a partition, and of those that are wanted with it. */
  long[] entries(int partition) {
    return isWhole() ? headers : rows(partition).entries;
  }

  /** Returns the index of a slot's entry in these longs. */
  int index(int slot, int partition) {
    return isWhole()
        ? (int) (segment.entry(partition, slot) / Long.BYTES)
        : rows(partition).index(slot, partition);
  }

  /** Returns the number of longs from a slot's entry to that of the next partition. */
  int stride() {
    int entries = isWhole() || !isSparse() ? segment.slots() : wantedSlots();
    return entries * TableEntry.LONGS;
  }

  private Rows rows(int partition) {
    return rows.floorEntry(partition).getValue();
  }
}
