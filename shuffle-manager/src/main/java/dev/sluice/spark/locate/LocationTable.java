// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.locate;

import dev.sluice.blocks.wire.MapOutputLocation;
import java.io.IOException;
import java.util.Arrays;

/**
 * An executor's copy of a {@link LocationLog} in sorted arrays: 12 bytes a map output, and 24 a
 * segment. {@link ShuffleTable} makes one for each generation, and uses it under its lock.
 */
final class LocationTable {
  /** No index, or no place. */
  static final int ABSENT = -1;

  private final LocationReader reader = new LocationReader();

  /** Map ids in ascending order, and the place of each, or ABSENT. */
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
    LocationReader.Locations news = reader.read(records);
    bytes += records.length;
    if (news.count() == 0) {
      return;
    }
    long[] ids = union(mapIds, news);
    int[] merged = new int[ids.length];
    put(mapIds, places, mapIds.length, ids, merged);
    put(news.mapIds(), news.places(), news.count(), ids, merged);
    mapIds = ids;
    places = merged;
  }

  /** Returns the map ids of both in ascending order, each once. */
  private static long[] union(long[] known, LocationReader.Locations news) {
    long[] ids = Arrays.copyOf(known, known.length + news.count());
    System.arraycopy(news.mapIds(), 0, ids, known.length, news.count());
    Arrays.sort(ids, known.length, ids.length);
    Arrays.sort(ids); // It merges two sorted parts in one pass.
    int count = 1;
    for (int i = 1; i < ids.length; i++) {
      if (ids[i] != ids[i - 1]) {
        ids[count++] = ids[i];
      }
    }
    return Arrays.copyOf(ids, count);
  }

  /** Puts the places of the first map ids where these are among the sorted ones. */
  private static void put(long[] mapIds, int[] places, int count, long[] sorted, int[] merged) {
    for (int i = 0, index = ABSENT; i < count; i++) {
      index = index(sorted, mapIds[i], index);
      merged[index] = places[i];
    }
  }

  /**
   * Returns the index of the map output in this table; ABSENT if it is not there.
   *
   * @param after index of the previous lookup, because callers look up map outputs in ascending
   *     order
   */
  int index(long mapId, int after) {
    return index(mapIds, mapId, after);
  }

  private static int index(long[] sorted, long mapId, int after) {
    int next = after + 1;
    return next < sorted.length && sorted[next] == mapId
        ? next
        : Math.max(ABSENT, Arrays.binarySearch(sorted, mapId));
  }

  /** Returns true if the table has a location there, and it is the executor's with that number. */
  boolean isOf(int index, int executor) {
    return index != ABSENT && places[index] != ABSENT && reader.executor(places[index]) == executor;
  }

  /** Returns the location at an index. */
  MapOutputLocation location(int index) {
    return reader.location(mapIds[index], places[index]);
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
}
