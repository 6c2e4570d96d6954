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
 * Locations of a shuffle's map outputs in the order of their publishing, in the very form in which
 * they travel: some 6 bytes each, 600 KB for 100,000 maps. The driver's {@link PublishedShuffle}
 * sees to it that one thread at a time uses it.
 *
 * <p>It consists of two kinds of records, in which numbers have variable length. A segment: 0, the
 * executor's number, and the segment, whose own number is how many came before it, and one. A
 * location: its segment's number, its slot, and by how much its map id is larger than that of the
 * location before. {@link LocationTable} reads it.
 */
final class LocationLog {
  static final int SEGMENT = 0;

  private static final int FIRST_BYTES = 256;

  private record Numbered(TableSegment segment, int number) {}

  /**
   * An executor's last segment that is registered, or that is not: it may publish either by turns.
   *
   * @param executor the executor's number
   */
  private record Last(int executor, boolean registered) {}

  private final Map<Last, Numbered> lastSegments = new HashMap<>();

  /** Executors whose records are still to be dropped. */
  private final BitSet removed = new BitSet();

  private Output output = new Output(FIRST_BYTES, -1);
  private int segments;
  private long lastMapId;

  /** Bytes of all records. */
  int bytes() {
    dropRemoved();
    return output.position();
  }

  /**
   * @param executor the executor's number
   */
  void append(int executor, MapOutputLocation location) {
    if (removed.get(executor)) {
      dropRemoved();
    }
    int number = number(executor, location.segment());
    output.writeInt(number, true);
    output.writeByte(location.slot());
    output.writeLong(location.mapId() - lastMapId, false);
    lastMapId = location.mapId();
  }

  private int number(int executor, TableSegment segment) {
    Last key = new Last(executor, segment.isRegistered());
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

  /** A copy of the records from the given byte on. */
  byte[] records(int from) {
    dropRemoved();
    return Arrays.copyOfRange(output.getBuffer(), from, output.position());
  }

  /**
   * Drops the records of an executor: with those of others that are dropped before somebody asks
   * for what is left, since all records are written again. False when there were none.
   */
  boolean remove(int executor) {
    boolean hasRecords = lastSegments.keySet().removeIf(last -> last.executor() == executor);
    if (hasRecords) {
      removed.set(executor);
    }
    return hasRecords;
  }

  private void dropRemoved() {
    if (removed.isEmpty()) {
      return;
    }
    byte[] all = output.toBytes();
    BitSet dropped = (BitSet) removed.clone();
    removed.clear();
    lastSegments.clear();
    output = new Output(FIRST_BYTES, -1);
    segments = 0;
    lastMapId = 0;
    LocationReader reader = new LocationReader();
    try {
      reader.read(
          all,
          (mapId, number, slot) -> {
            int executor = reader.segments().executor(number);
            if (!dropped.get(executor)) {
              TableSegment segment = reader.segments().segment(number);
              append(executor, new MapOutputLocation(mapId, segment, slot));
            }
          });
    } catch (IOException e) {
      throw new IllegalStateException("Its own records", e);
    }
  }
}
