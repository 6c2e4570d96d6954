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

/**
 * What is wanted of a segment of partition tables: of some slots the headers, and the entries of
 * some partitions. Where the segment is not registered, it is of one map output alone. Filled by
 * one thread at a time.
 */
final class TablePiece {
  /** A READ for each partition costs less than all of one where so small a part is wanted. */
  private static final int SPARSE = 8;

  /** Of so few partitions an executor's tasks want the entries of most, one after the other. */
  static final int FEW_PARTITIONS = 32;

  /** The entries of partitions [start, end), from the first one's of the first slot on. */
  final class Rows {
    private final int start;
    private final int end;
    private long[] entries;

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
     * Where they are to be READ, one after the other: in one piece, unless most of it would be
     * entries of other slots.
     */
    List<RemoteRegion> regions() {
      return isSparse()
          ? IntStream.range(start, end).mapToObj(row -> region(row, row + 1)).toList()
          : List.of(region(start, end));
    }

    private boolean isSparse() {
      return SPARSE * wantedSlots() <= segment.slots();
    }

    private RemoteRegion region(int from, int to) {
      return segment.entries(from, to, firstSlot(), lastSlot());
    }

    private Rows with(Rows other) {
      return new Rows(Math.min(start, other.start), Math.max(end, other.end));
    }

    /** Takes what is about to be READ, or is asked for. */
    void entries(long[] ofRegions) {
      entries = ofRegions;
    }

    private int index(int slot, int partition) {
      int rowEntries = isSparse() ? wantedSlots() : segment.slots();
      return ((partition - start) * rowEntries + slot - firstSlot()) * TableEntry.LONGS;
    }
  }

  private final TableSegment segment;
  private final long mapId;

  /** By their starts; none touches another. */
  private final TreeMap<Integer, Rows> rows = new TreeMap<>();

  /** A bit for each slot that is wanted. */
  private long slots;

  /** Of the whole segment, with those that are wanted; all entries follow where all is READ. */
  private long[] headers;

  private FallbackReason failure;

  /**
   * @param first a location in the segment
   */
  TablePiece(MapOutputLocation first) {
    segment = first.segment();
    mapId = first.mapId();
  }

  /** What is the same for all locations of a piece. */
  static Object place(MapOutputLocation location) {
    return location.segment().isRegistered() ? location.segment() : location;
  }

  /** Whether a location is known to be of this piece, without comparing much. */
  boolean has(MapOutputLocation location) {
    return segment == location.segment() && (segment.isRegistered() || mapId == location.mapId());
  }

  /** Partitions [start, end) of a slot; blocks mostly want the same, or some that adjoin. */
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

  /** Of the one map output, where the segment is not registered. */
  long mapId() {
    return mapId;
  }

  long slots() {
    return slots;
  }

  /** Whether all of the segment may be READ at once. */
  boolean hasFewPartitions() {
    return segment.isRegistered() && segment.partitions() <= FEW_PARTITIONS;
  }

  /** Whether it is, and the rows are not. */
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

  /** And those between them. */
  private int wantedSlots() {
    return lastSlot() + 1 - firstSlot();
  }

  Collection<Rows> rows() {
    return rows.values();
  }

  /** Takes what is known, or about to be READ or asked for: no more, or all of the segment. */
  void headers(long[] ofSegment) {
    headers = ofSegment;
  }

  long[] headers() {
    return headers;
  }

  void failed(FallbackReason reason) {
    failure = reason;
  }

  /** Why there is nothing; null where all was READ. */
  FallbackReason failure() {
    return failure;
  }

  /** Null where the slot is not the map output's. */
  MapOutputHeader header(int slot, long mapId) {
    return MapOutputHeader.of(mapId, headers, slot * MapOutputHeader.LONGS);
  }

  long offset(int slot, int partition) {
    return TableEntry.offset(entry(slot, partition, 0));
  }

  long length(int slot, int partition) {
    return TableEntry.length(entry(slot, partition, 0), entry(slot, partition, 1));
  }

  long checksum(int slot, int partition) {
    return TableEntry.checksum(entry(slot, partition, 1));
  }

  /** One of the longs of an entry. */
  private long entry(int slot, int partition, int at) {
    if (isWhole()) {
      return headers[(int) (segment.entry(partition, slot) / Long.BYTES) + at];
    }
    Rows of = rows(partition);
    return of.entries[of.index(slot, partition) + at];
  }

  private Rows rows(int partition) {
    return rows.floorEntry(partition).getValue();
  }
}
