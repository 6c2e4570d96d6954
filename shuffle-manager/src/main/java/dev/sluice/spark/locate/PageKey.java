package dev.sluice.spark.locate;

import dev.sluice.blocks.wire.MapOutputLocation;
import dev.sluice.blocks.wire.PartitionTable;
import dev.sluice.rdma.RemoteRegion;

/**
 * A page of a map output's partition table, bound to where the table was READ: what was cached for
 * one registration is not found for another.
 */
record PageKey(int shuffleId, long mapId, RemoteRegion table, int page) {

  static PageKey of(int shuffleId, MapOutputLocation location, int page) {
    return new PageKey(shuffleId, location.mapId(), location.table(), page);
  }

  /** Partitions of a table, of which the last entry is but the end. */
  static long partitions(RemoteRegion table) {
    return table.length() / PartitionTable.ENTRY_BYTES - 1;
  }

  /** Partitions on this page. */
  int partitions() {
    long first = (long) page * TablePage.PARTITIONS;
    return (int) Math.min(TablePage.PARTITIONS, partitions(table) - first);
  }

  /** Bytes of the page in the table, with the end of its last partition. */
  int bytes() {
    return (partitions() + 1) * PartitionTable.ENTRY_BYTES;
  }

  RemoteRegion range() {
    long first = (long) page * TablePage.PARTITIONS * PartitionTable.ENTRY_BYTES;
    return new RemoteRegion(table.address() + first, bytes(), table.rkey());
  }

  /** Of what differs within a shuffle: a reduce task looks up a page for each of its blocks. */
  @Override
  public int hashCode() {
    return 31 * Long.hashCode(mapId) + page;
  }
}
