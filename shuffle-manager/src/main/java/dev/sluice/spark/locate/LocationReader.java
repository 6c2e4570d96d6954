// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.locate;

import com.esotericsoftware.kryo.KryoException;
import com.esotericsoftware.kryo.io.Input;
import dev.sluice.blocks.wire.Fields;
import dev.sluice.blocks.wire.TableSegment;
import java.io.IOException;

/**
 * Reads the records of one {@link LocationLog}, piece by piece, in the log's order. {@link
 * LocationTable} has one for its life, and a log one to drop records. Both are guarded by the lock
 * of their owner; this has none.
 */
final class LocationReader {
  /** Takes a location. */
  interface Sink {
    /**
     * @param segment number of its segment
     */
    void location(long mapId, int segment, int slot);
  }

  private final SegmentList segments = new SegmentList();
  private long lastMapId;

  /** Returns all segments that were read so far. */
  SegmentList segments() {
    return segments;
  }

  /**
   * Reads the records that follow those read before.
   *
   * @throws IOException if these are not records, with the reason; the reader is unchanged then,
   *     though the sink may have taken some locations
   */
  void read(byte[] records, Sink sink) throws IOException {
    int known = segments.size();
    long knownMapId = lastMapId;
    try {
      Input input = new Input(records);
      while (input.position() < records.length) {
        read(input, sink);
      }
      segments.trim();
    } catch (KryoException e) {
      segments.truncate(known);
      lastMapId = knownMapId;
      throw new IOException("not valid location records: " + e.getMessage(), e);
    }
  }

  private void read(Input input, Sink sink) {
    int number = input.readInt(true);
    if (number == LocationLog.SEGMENT) {
      int executor = input.readInt(true);
      if (executor <= ExecutorTable.NONE || executor >= SegmentList.MAX_EXECUTORS) {
        throw new KryoException("invalid executor " + executor);
      }
      segments.add(executor, Fields.readSegment(input));
      return;
    }
    int slot = input.readByte();
    lastMapId += input.readLong(false);
    if (number < 0 || number > segments.size() || !segment(number).hasSlot(slot)) {
      throw new KryoException("invalid slot %d of segment %d".formatted(slot, number));
    }
    sink.location(lastMapId, number, slot);
  }

  private TableSegment segment(int number) {
    return segments.segment(number);
  }
}
