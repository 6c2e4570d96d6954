// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.locate;

import dev.sluice.blocks.wire.MapOutputLocation;
import dev.sluice.blocks.wire.TableSegment;
import java.io.IOException;
import java.util.Arrays;

/**
 * An executor's copy of a {@link LocationLog}: 12 bytes a map output, and some 30 a segment. {@link
 * ShuffleLocations} ensures that one thread at a time uses it.
 */
final class LocationTable {
  /** No index, or no place. */
  static final int ABSENT = -1;

  /** Bits of a slot: a segment has at most {@code TableSegment.MAX_SLOTS}, 64. */
  private static final int SLOT_BITS = 6;

  private final LocationReader reader = new LocationReader();

  /** Map ids in ascending order, and the place of each: segment and slot, or ABSENT. */
  private long[] mapIds = new long[0];

  private int[] places = new int[0];

  /** Bytes of the log that this table contains. */
  private int bytes;

  int bytes() {
    return bytes;
  }

  int size() {
    return mapIds.length;
  }

  /**
   * Adds the records that follow. The last one of a map id counts.
   *
   * @throws IOException if these are not records; the table is unchanged then
   */
  void append(byte[] records) throws IOException {
    Arrivals arrivals = new Arrivals();
    reader.read(records, arrivals);
    bytes += records.length;
    if (arrivals.count > 0) {
      merge(arrivals.sortedIds(), arrivals);
    }
  }

  private void merge(long[] newIds, Arrivals arrivals) {
    int[] newPlaces = arrivals.places(newIds);
    long[] mergedIds = new long[mapIds.length + newIds.length];
    int[] mergedPlaces = new int[mergedIds.length];
    int count = 0;
    int old = 0;
    for (int i = 0; i < newIds.length; i++) {
      for (; old < mapIds.length && mapIds[old] < newIds[i]; old++, count++) {
        mergedIds[count] = mapIds[old];
        mergedPlaces[count] = places[old];
      }
      old += old < mapIds.length && mapIds[old] == newIds[i] ? 1 : 0;
      mergedIds[count] = newIds[i];
      mergedPlaces[count++] = newPlaces[i];
    }
    int rest = mapIds.length - old;
    System.arraycopy(mapIds, old, mergedIds, count, rest);
    System.arraycopy(places, old, mergedPlaces, count, rest);
    mapIds = Arrays.copyOf(mergedIds, count + rest);
    places = Arrays.copyOf(mergedPlaces, count + rest);
  }

  /**
   * Returns the index of the map output in this table; ABSENT if it is not there.
   *
   * @param after index of the previous lookup, because callers look up map outputs in ascending
   *     order
   */
  int index(long mapId, int after) {
    int next = after + 1;
    if (next < mapIds.length && mapIds[next] == mapId) {
      return next;
    }
    int found = Arrays.binarySearch(mapIds, mapId);
    return found < 0 ? ABSENT : found;
  }

  /** Returns true if the table has a location there, and it is the executor's with that number. */
  boolean isOf(int index, int executor) {
    return index != ABSENT
        && places[index] != ABSENT
        && reader.segments().executor(segmentNumber(index)) == executor;
  }

  /** Returns the location at an index. */
  MapOutputLocation location(int index) {
    TableSegment segment = reader.segments().segment(segmentNumber(index));
    return new MapOutputLocation(mapIds[index], segment, places[index] & (1 << SLOT_BITS) - 1);
  }

  private int segmentNumber(int index) {
    return places[index] >> SLOT_BITS;
  }

  /** Forgets a location. */
  void remove(MapOutputLocation wrong) {
    int index = index(wrong.mapId(), ABSENT);
    if (index != ABSENT && places[index] != ABSENT && location(index).equals(wrong)) {
      places[index] = ABSENT;
    }
  }

  /** Forgets the locations of the executor with that number. */
  void removeAll(int executor) {
    for (int index = 0; index < places.length; index++) {
      if (isOf(index, executor)) {
        places[index] = ABSENT;
      }
    }
  }

  /** New locations, in the order of the log. */
  private static final class Arrivals implements LocationReader.Sink {
    private long[] ids = new long[64];
    private int[] arrived = new int[64];
    private int count;

    @Override
    public void location(long mapId, int segment, int slot) {
      if (count == ids.length) {
        ids = Arrays.copyOf(ids, 2 * count);
        arrived = Arrays.copyOf(arrived, 2 * count);
      }
      ids[count] = mapId;
      arrived[count++] = segment << SLOT_BITS | slot;
    }

    /** Returns the ids in ascending order, each once. */
    long[] sortedIds() {
      long[] sorted = Arrays.copyOf(ids, count);
      Arrays.sort(sorted);
      int distinct = 0;
      for (long id : sorted) {
        if (distinct == 0 || sorted[distinct - 1] != id) {
          sorted[distinct++] = id;
        }
      }
      return Arrays.copyOf(sorted, distinct);
    }

    /** Returns the places of these ids, in their order. */
    int[] places(long[] sortedIds) {
      int[] places = new int[sortedIds.length];
      for (int i = 0; i < count; i++) {
        places[Arrays.binarySearch(sortedIds, ids[i])] = arrived[i];
      }
      return places;
    }
  }
}
