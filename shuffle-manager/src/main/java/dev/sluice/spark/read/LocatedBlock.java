package dev.sluice.spark.read;

import dev.sluice.blocks.MapOutputLocation;

/**
 * A block and exactly where its bytes are.
 *
 * @param location the map output that has it
 * @param offsets where its partitions begin in the data file, and where the last one ends
 * @param checksums of its partitions
 */
record LocatedBlock(
    RequestedBlock block, MapOutputLocation location, long[] offsets, long[] checksums) {

  /** The block by the pages of its map output's table, all of which have to be there. */
  static LocatedBlock of(RequestedBlock block, MapOutputLocation location, TablePages pages) {
    int partitions = block.endPartition() - block.startPartition();
    long[] offsets = new long[partitions + 1];
    long[] checksums = new long[partitions];
    TablePage page = null;
    for (int i = 0; i < partitions; i++) {
      int partition = block.startPartition() + i;
      int index = partition % TablePage.PARTITIONS;
      if (page == null || index == 0) {
        page = pages.get(PageKey.of(block.shuffleId(), location, partition / TablePage.PARTITIONS));
      }
      offsets[i] = page.offset(index);
      offsets[i + 1] = page.offset(index + 1);
      checksums[i] = page.checksum(index);
    }
    return new LocatedBlock(block, location, offsets, checksums);
  }

  long offset() {
    return offsets[0];
  }

  long end() {
    return offsets[offsets.length - 1];
  }

  /** Bytes; may exceed 2 GiB. */
  long length() {
    return end() - offset();
  }

  /** Address of its first byte in the peer's memory. */
  long address() {
    return location.data().address() + offset();
  }

  int dataKey() {
    return location.data().rkey();
  }
}
