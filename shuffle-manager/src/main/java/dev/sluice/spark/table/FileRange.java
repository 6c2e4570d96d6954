// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.table;

import dev.sluice.blocks.wire.ChecksumAlgorithm;
import dev.sluice.blocks.wire.ControlMessages.Piece;
import dev.sluice.blocks.wire.MapOutputHeader;
import dev.sluice.rdma.RemoteRegion;
import java.util.List;
import java.util.stream.LongStream;

/**
 * Bytes [position, position + length) of a map output's data file. {@link LocatedBlocks} makes it,
 * and {@code DataRead} stages or READs it; immutable.
 *
 * @param isStaged true if the peer must stage them before they can be READ
 */
public record FileRange(MapOutputHeader output, boolean isStaged, long position, long length) {
  public boolean hasChecksums() {
    return output.checksumAlgorithm() != ChecksumAlgorithm.NONE;
  }

  /** Returns the region to READ, if the bytes are not staged. */
  public RemoteRegion region() {
    return new RemoteRegion(output.data().address() + position, length, output.data().rkey());
  }

  /** Returns the piece to stage, if the bytes are staged. */
  public Piece piece() {
    return new Piece(output.mapId(), position, Math.toIntExact(length));
  }

  /** Appends a range, or extends the last one if they adjoin. */
  public static void add(List<FileRange> ranges, FileRange next) {
    boolean adjoins = !ranges.isEmpty() && ranges.getLast().adjoins(next);
    ranges.add(adjoins ? ranges.removeLast().with(next) : next);
  }

  /**
   * Divides ranges into requests, because a peer stages a limited number of bytes at a time. The
   * result is all ranges together, or equal parts of one that is larger.
   *
   * @param ranges together at most {@code maxStagedBytes} that are staged, or a single range
   */
  public static List<List<FileRange>> split(List<FileRange> ranges, int maxStagedBytes) {
    FileRange first = ranges.getFirst();
    if (!first.isStaged || first.length <= maxStagedBytes) {
      return List.of(ranges);
    }
    long count = Math.ceilDiv(first.length, maxStagedBytes);
    return LongStream.range(0, count).mapToObj(i -> List.of(first.part(i, count))).toList();
  }

  private FileRange part(long index, long count) {
    long from = length * index / count;
    return new FileRange(output, isStaged, position + from, length * (index + 1) / count - from);
  }

  private boolean adjoins(FileRange next) {
    return output == next.output && position + length == next.position;
  }

  private FileRange with(FileRange next) {
    return new FileRange(output, isStaged, position, length + next.length);
  }
}
