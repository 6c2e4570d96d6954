// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.locate;

import com.esotericsoftware.kryo.io.Output;
import dev.sluice.blocks.wire.Fields;
import dev.sluice.blocks.wire.MapOutputLocation;
import dev.sluice.blocks.wire.TableSegment;
import java.io.IOException;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.Map;

/**
 * Log of the locations of a shuffle's map outputs, in the order of their publication. It is kept in
 * the form in which it travels: some 6 bytes a location, 600 KB for 100,000 maps. {@link
 * LocationDirectory} makes one for each shuffle and changes it, and {@link PublishedShuffle} reads
 * it, both under the directory's lock.
 *
 * <p>It consists of two kinds of records, with numbers of variable length. A segment record is 0,
 * the executor's number, and the segment; segments are numbered from 1 in the order of the log. A
 * location record is the number of its segment, its slot, and the difference of its map id to that
 * of the previous location. {@link LocationReader} reads them.
 */
final class LocationLog {
  static final int SEGMENT = 0;

  private static final int FIRST_BYTES = 256;

  private record Numbered(TableSegment segment, int number) {}

  /**
   * Last registered segment of an executor by its number, and last unregistered one by the negative
   * number: an executor may publish both kinds alternately. Executors' numbers begin at 1.
   */
  private final Map<Integer, Numbered> lastSegments = new HashMap<>();

  /** Numbers of executors whose records are still to be dropped. */
  private final BitSet removed = new BitSet();

  private Output output = new Output(FIRST_BYTES, -1);
  private int segments;
  private long lastMapId;

  /** Returns the bytes of all records. */
  int bytes() {
    dropRemoved();
    return output.position();
  }

  /**
   * Appends a location.
   *
   * @param executor the executor's number
   */
  void append(int executor, MapOutputLocation location) {
    if (removed.get(executor)) {
      dropRemoved();
    }
    int number = number(executor, location.segment());
    output.writeInt(number, true);
    // A slot is at most TableSegment.MAX_SLOTS - 1, so one byte is enough.
    output.writeByte(location.slot());
    output.writeLong(location.mapId() - lastMapId, false);
    lastMapId = location.mapId();
  }

  private int number(int executor, TableSegment segment) {
    int key = segment.isRegistered() ? executor : -executor;
    Numbered last = lastSegments.get(key);
    if (last == null || !last.segment().equals(segment)) {
      output.writeInt(SEGMENT, true);
      output.writeInt(executor, true);
      Fields.writeSegment(output, segment);
      last = new Numbered(segment, ++segments);
      lastSegments.put(key, last);
    }
    return last.number();
  }

  /** Returns a copy of the records from the given byte on. */
  byte[] records(int from) {
    dropRemoved();
    return Arrays.copyOfRange(output.getBuffer(), from, output.position());
  }

  /**
   * Drops the records of an executor, at the next read of the log: dropping rewrites all records,
   * so one pass drops those of several executors. Byte positions then change, so the directory
   * begins a new generation if this returns true. Returns false if there were no records.
   */
  boolean remove(int executor) {
    Numbered registered = lastSegments.remove(executor);
    Numbered unregistered = lastSegments.remove(-executor);
    boolean hasRecords = registered != null || unregistered != null;
    if (hasRecords) {
      removed.set(executor);
    }
    return hasRecords;
  }

  private void dropRemoved() {
    if (removed.isEmpty()) {
      return;
    }
    LocationReader reader = new LocationReader();
    LocationReader.Locations all;
    try {
      all = reader.read(output.toBytes());
    } catch (IOException e) {
      throw new IllegalStateException("the location log cannot read its own records", e);
    }
    BitSet dropped = (BitSet) removed.clone();
    removed.clear();
    lastSegments.clear();
    output = new Output(FIRST_BYTES, -1);
    segments = 0;
    lastMapId = 0;
    for (int i = 0; i < all.count(); i++) {
      int executor = reader.executor(all.places()[i]);
      if (!dropped.get(executor)) {
        append(executor, reader.location(all.mapIds()[i], all.places()[i]));
      }
    }
  }
}
