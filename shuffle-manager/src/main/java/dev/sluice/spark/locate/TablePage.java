package dev.sluice.spark.locate;

import dev.sluice.blocks.wire.PartitionTable;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * Offsets and checksums of {@link #PARTITIONS} consecutive partitions of a map output (fewer on a
 * table's last page). A page also has the end of its last partition, so a block never needs the
 * page after its own. Immutable.
 */
final class TablePage {
  /**
   * Partitions of a page. Reducers of consecutive partitions run on different executors, so of E
   * executors each uses every E-th entry of a table: a page much longer than E costs no bytes more,
   * but a page longer than needed among many executors is READ in vain. 64 is a kilobyte, which a
   * device READs about as fast as one entry.
   */
  static final int PARTITIONS = 64;

  /** Heap around the longs of a page: headers, key, and the cache's entry. */
  private static final int OVERHEAD_BYTES = 200;

  private static final ValueLayout.OfLong LONG =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  private final long[] offsets;
  private final long[] checksums;

  private TablePage(long[] offsets, long[] checksums) {
    this.offsets = offsets;
    this.checksums = checksums;
  }

  /**
   * Reads a page from the table's bytes, which begin at the page's first entry.
   *
   * @return null when these cannot be a partition table's bytes
   */
  static TablePage parse(MemorySegment entries, int partitions) {
    long[] offsets = new long[partitions + 1];
    long[] checksums = new long[partitions];
    for (int i = 0; i <= partitions; i++) {
      long entry = (long) i * PartitionTable.ENTRY_BYTES;
      offsets[i] = entries.get(LONG, entry);
      if (offsets[i] < (i == 0 ? 0 : offsets[i - 1])) {
        return null;
      }
      if (i < partitions) {
        checksums[i] = entries.get(LONG, entry + PartitionTable.CHECKSUM_OFFSET);
      }
    }
    return new TablePage(offsets, checksums);
  }

  /** Where partition {@code index} of the page begins; also for the end of the last one. */
  long offset(int index) {
    return offsets[index];
  }

  long checksum(int index) {
    return checksums[index];
  }

  long heapBytes() {
    return (long) Long.BYTES * (offsets.length + checksums.length) + OVERHEAD_BYTES;
  }
}
