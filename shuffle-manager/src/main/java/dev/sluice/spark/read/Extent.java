package dev.sluice.spark.read;

import dev.sluice.blocks.wire.ChecksumAlgorithm;
import dev.sluice.blocks.wire.ControlMessages.Piece;
import dev.sluice.blocks.wire.MapOutputLocation;
import dev.sluice.rdma.RemoteRegion;

/** Bytes [position, position + length) of a map output's data file. */
record Extent(MapOutputLocation output, long position, long length) {
  boolean isStaged() {
    return output.isStaged();
  }

  boolean hasChecksums() {
    return output.checksumAlgorithm() != ChecksumAlgorithm.NONE;
  }

  /** Where it is to be READ, if it is registered. */
  RemoteRegion region() {
    return new RemoteRegion(output.data().address() + position, length, output.data().rkey());
  }

  /** What is to be asked for, if it is not. */
  Piece piece() {
    return new Piece(output.mapId(), position, Math.toIntExact(length));
  }

  boolean adjoins(Extent next) {
    return output == next.output && position + length == next.position;
  }

  Extent with(Extent next) {
    return new Extent(output, position, length + next.length);
  }
}
