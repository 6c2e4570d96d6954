package dev.sluice.blocks;

import dev.sluice.rdma.MemoryRegion;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;

/**
 * A map output that can be READ. Less than 1 KB of heap whatever the number of partitions: 100 KB
 * an executor where 1,000 executors hold 100,000 map outputs.
 *
 * @param location what peers get
 * @param file the data file
 * @param data the data file's region; null where all partitions are empty
 * @param table the partition table, in {@code memory}
 * @param memory keeps the table alive while it is read
 */
record RegisteredMapOutput(
    MapOutputLocation location,
    Path file,
    MemoryRegion data,
    MemorySegment table,
    ShuffleMemory memory) {

  /** Null when the partitions do not exist or the table is gone. Any thread. */
  MapOutputRegistry.Segment segment(int startPartition, int endPartition) {
    long partitions = table.byteSize() / PartitionTable.ENTRY_BYTES - 1;
    if (startPartition < 0 || endPartition < startPartition || endPartition > partitions) {
      return null;
    }
    if (!memory.retain()) {
      return null;
    }
    try {
      long start = MapOutputIndex.offset(table, startPartition);
      long end = MapOutputIndex.offset(table, endPartition);
      return new MapOutputRegistry.Segment(file, start, end - start);
    } finally {
      memory.release();
    }
  }

  /** No peer READs the data once this has returned. Idempotent. */
  void deregister() {
    if (data != null) {
      data.close();
    }
  }
}
