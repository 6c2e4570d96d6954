// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.locate;

import com.esotericsoftware.kryo.KryoException;
import com.esotericsoftware.kryo.io.Input;
import dev.sluice.blocks.wire.Fields;
import dev.sluice.blocks.wire.MapOutputLocation;
import dev.sluice.blocks.wire.TableSegment;
import dev.sluice.rdma.RemoteRegion;
import java.io.IOException;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Reads the records of one {@link LocationLog}, piece by piece, and keeps its segments, 24 bytes
 * each. {@link LocationTable} has one for its life, and a log makes one to drop records. Not
 * thread-safe, not even for lookups, as it remembers the last segment: its owners' locks guard it.
 * Segments are numbered from 1; {@code segments} has no entry for number 0.
 */
final class LocationReader {
  /**
   * Locations of a piece, in the log's order.
   *
   * @param places segment and slot of each location
   * @param count number of locations; the arrays may be longer
   */
  record Locations(long[] mapIds, int[] places, int count) {}

  /** Bits of a slot: a segment has at most {@code TableSegment.MAX_SLOTS}, 64. */
  private static final int SLOT_BITS = 6;

  /** Smallest size of a location record: its segment's number, slot and map id. */
  private static final int MIN_LOCATION_BYTES = 3;

  /** Smallest size of a segment record: 0, the executor's number, slots and region. */
  private static final int MIN_SEGMENT_BYTES = 23;

  /** Address of a segment; rkey and partitions; executor and slots. */
  private static final int LONGS = 3;

  private long[] segments = new long[0];
  private long lastMapId;

  /** The last segment that was asked for, which callers mostly want again, and its number. */
  private @Nullable TableSegment lastSegment;

  private int lastNumber;

  /**
   * Reads the records that follow those read before.
   *
   * @throws IOException if these are not records, with the reason; the reader is unchanged then
   */
  Locations read(byte[] records) throws IOException {
    Input input = new Input(records);
    long[] mapIds = new long[records.length / MIN_LOCATION_BYTES];
    int[] places = new int[mapIds.length];
    int count = 0;
    long mapId = lastMapId;
    int end = segments.length;
    long[] all = Arrays.copyOf(segments, end + LONGS * (records.length / MIN_SEGMENT_BYTES));
    try {
      while (input.position() < records.length) {
        int number = input.readInt(true);
        if (number == LocationLog.SEGMENT) {
          readSegment(input, all, end);
          end += LONGS;
          continue;
        }
        int slot = input.readByte();
        mapId += input.readLong(false);
        if (number < 0 || number > end / LONGS || slot < 0 || slot >= slots(all, number)) {
          throw new KryoException("invalid slot %d of segment %d".formatted(slot, number));
        }
        mapIds[count] = mapId;
        places[count++] = number << SLOT_BITS | slot;
      }
    } catch (KryoException e) {
      throw new IOException("not valid location records: " + e.getMessage(), e);
    }
    segments = Arrays.copyOf(all, end);
    lastMapId = mapId;
    return new Locations(mapIds, places, count);
  }

  private static void readSegment(Input input, long[] to, int at) {
    int executor = input.readInt(true);
    if (executor <= ExecutorTable.NONE) {
      throw new KryoException("invalid executor " + executor);
    }
    TableSegment segment = Fields.readSegment(input);
    to[at] = segment.region().address();
    to[at + 1] = (long) segment.region().rkey() << Integer.SIZE | segment.partitions();
    to[at + 2] = (long) executor << Integer.SIZE | segment.slots();
  }

  private static int slots(long[] segments, int number) {
    return (int) segments[LONGS * number - 1];
  }

  /** Returns the number of the executor whose location has that place. */
  int executor(int place) {
    return (int) (segments[LONGS * (place >> SLOT_BITS) - 1] >>> Integer.SIZE);
  }

  /** Returns the location of a map output at a place. */
  MapOutputLocation location(long mapId, int place) {
    int number = place >> SLOT_BITS;
    TableSegment segment = lastSegment;
    if (segment == null || number != lastNumber) {
      segment = segment(number);
      lastSegment = segment;
      lastNumber = number;
    }
    return new MapOutputLocation(mapId, segment, place & (1 << SLOT_BITS) - 1);
  }

  private TableSegment segment(int number) {
    int at = LONGS * (number - 1);
    int slots = slots(segments, number);
    long bytes = TableSegment.bytes(slots, (int) segments[at + 1]);
    int rkey = (int) (segments[at + 1] >>> Integer.SIZE);
    return new TableSegment(new RemoteRegion(segments[at], bytes, rkey), slots);
  }
}
