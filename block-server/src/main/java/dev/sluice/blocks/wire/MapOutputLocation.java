package dev.sluice.blocks.wire;

import dev.sluice.rdma.RemoteRegion;

/**
 * Where a registered map output can be READ: tens of bytes, whatever the number of partitions.
 *
 * @param mapId the map task attempt's id, unique in the application (not the map index)
 * @param data the data file; length 0 where all partitions are empty
 * @param table the {@link PartitionTable}
 * @param checksumAlgorithm of the table's checksums
 */
public record MapOutputLocation(
    long mapId, RemoteRegion data, RemoteRegion table, ChecksumAlgorithm checksumAlgorithm) {}
