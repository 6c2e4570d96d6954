package dev.sluice.blocks.wire;

import dev.sluice.rdma.RemoteRegion;

/**
 * Where a map output can be READ: tens of bytes, whatever the number of partitions.
 *
 * @param mapId the map task attempt's id, unique in the application (not the map index)
 * @param data the data file; of length 0 where all partitions are empty, at address 0 where it is
 *     not registered and its bytes have to be staged
 * @param table the {@link PartitionTable}
 * @param checksumAlgorithm of the table's checksums
 */
public record MapOutputLocation(
    long mapId, RemoteRegion data, RemoteRegion table, ChecksumAlgorithm checksumAlgorithm) {

  /** A data file that is not registered. */
  public static RemoteRegion unregistered(long length) {
    return new RemoteRegion(0, length, 0);
  }

  /** Whether the bytes are to be asked for before they can be READ. */
  public boolean isStaged() {
    return data.address() == 0 && data.length() > 0;
  }
}
