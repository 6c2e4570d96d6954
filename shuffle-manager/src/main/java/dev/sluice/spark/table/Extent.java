package dev.sluice.spark.table;

import dev.sluice.blocks.wire.ChecksumAlgorithm;
import dev.sluice.blocks.wire.ControlMessages.Piece;
import dev.sluice.blocks.wire.MapOutputHeader;
import dev.sluice.rdma.RemoteRegion;
import java.util.List;
import java.util.stream.LongStream;

/**
 * Bytes [position, position + length) of a map output's data file.
 *
 * @param isStaged whether the peer has to be asked for them before they can be READ
 */
public record Extent(MapOutputHeader output, boolean isStaged, long position, long length) {
  public boolean hasChecksums() {
    return output.checksumAlgorithm() != ChecksumAlgorithm.NONE;
  }

  /** Where it is to be READ, if it is not staged. */
  public RemoteRegion region() {
    return new RemoteRegion(output.data().address() + position, length, output.data().rkey());
  }

  /** What is to be asked for, if it is. */
  public Piece piece() {
    return new Piece(output.mapId(), position, Math.toIntExact(length));
  }

  /** Adds the next one; what adjoins is one. */
  public static void add(List<Extent> extents, Extent next) {
    boolean adjoins = !extents.isEmpty() && extents.getLast().adjoins(next);
    extents.add(adjoins ? extents.removeLast().with(next) : next);
  }

  /**
   * What has to be asked for one after the other, where a peer stages so many bytes at a time: all
   * at once, or one extent that is larger in parts of one size.
   *
   * @param extents of which so many bytes are staged at most; or one
   */
  public static List<List<Extent>> split(List<Extent> extents, int maxStagedBytes) {
    Extent first = extents.getFirst();
    if (!first.isStaged || first.length <= maxStagedBytes) {
      return List.of(extents);
    }
    long count = Math.ceilDiv(first.length, maxStagedBytes);
    return LongStream.range(0, count).mapToObj(i -> List.of(first.part(i, count))).toList();
  }

  private Extent part(long index, long count) {
    long from = length * index / count;
    return new Extent(output, isStaged, position + from, length * (index + 1) / count - from);
  }

  private boolean adjoins(Extent next) {
    return output == next.output && position + length == next.position;
  }

  private Extent with(Extent next) {
    return new Extent(output, isStaged, position, length + next.length);
  }
}
