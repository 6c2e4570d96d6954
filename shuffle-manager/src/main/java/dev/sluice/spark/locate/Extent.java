package dev.sluice.spark.locate;

import dev.sluice.blocks.wire.ChecksumAlgorithm;
import dev.sluice.blocks.wire.ControlMessages.Piece;
import dev.sluice.blocks.wire.MapOutputLocation;
import dev.sluice.rdma.RemoteRegion;

/**
 * Bytes [position, position + length) of a map output's data file.
 *
 * @param isStaged whether the peer has to be asked for them before they can be READ
 */
public record Extent(MapOutputLocation output, boolean isStaged, long position, long length) {
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

  boolean adjoins(Extent next) {
    return output == next.output && position + length == next.position;
  }

  Extent with(Extent next) {
    return new Extent(output, isStaged, position, length + next.length);
  }
}
