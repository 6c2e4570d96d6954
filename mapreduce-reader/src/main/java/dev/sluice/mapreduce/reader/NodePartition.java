// SPDX-License-Identifier: Apache-2.0
package dev.sluice.mapreduce.reader;

import dev.sluice.blocks.wire.MapOutputHeader;
import dev.sluice.mapreduce.RemotePartition;
import dev.sluice.rdma.RemoteRegion;
import dev.sluice.rdma.transfer.PeerAddress;

/** A partition that can be READ from a node. Immutable. */
final class NodePartition extends RemotePartition {
  private final PeerAddress peer;
  private final MapOutputHeader header;
  private final long offset;

  /**
   * @param offset of the partition in the map output's file
   */
  NodePartition(PeerAddress peer, MapOutputHeader header, long offset, long bytes, long rawBytes) {
    super(header.mapId(), bytes, rawBytes);
    this.peer = peer;
    this.header = header;
    this.offset = offset;
  }

  PeerAddress peer() {
    return peer;
  }

  /** Returns true if the bytes have to be staged before they can be READ. */
  boolean isStaged() {
    return header.isStaged();
  }

  /** Region of a part of the registered partition. */
  RemoteRegion region(long position, int length) {
    return new RemoteRegion(
        header.data().address() + offset + position, length, header.data().rkey());
  }
}
