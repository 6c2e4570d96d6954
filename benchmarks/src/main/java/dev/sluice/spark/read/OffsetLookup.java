package dev.sluice.spark.read;

import dev.sluice.blocks.MapOutputLocation;
import dev.sluice.blocks.PartitionTable;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.Arrays;

/**
 * From a block's partition to its place in a map output, as a fetch finds it once the pages of the
 * partition table are there. In this package because the pages are. One thread.
 */
public final class OffsetLookup {
  private static final int SHUFFLE = 0;
  private static final ValueLayout.OfLong LONG =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  private final MapOutputLocation location;
  private final TablePages pages = new TablePages();
  private final RequestedBlock[] blocks;

  /**
   * @param location of a map output
   * @param offsets of its partitions, and the end of the last one
   */
  public OffsetLookup(MapOutputLocation location, long[] offsets) {
    this.location = location;
    blocks = new RequestedBlock[offsets.length - 1];
    for (int partition = 0; partition < blocks.length; partition++) {
      blocks[partition] =
          RequestedBlock.parse("shuffle_%d_%d_%d".formatted(SHUFFLE, location.mapId(), partition));
    }
    for (int first = 0; first < blocks.length; first += TablePage.PARTITIONS) {
      PageKey key = PageKey.of(SHUFFLE, location, first / TablePage.PARTITIONS);
      long[] part = Arrays.copyOfRange(offsets, first, first + key.partitions() + 1);
      pages.found(key, TablePage.parse(entries(part), key.partitions()));
    }
  }

  private static MemorySegment entries(long[] offsets) {
    MemorySegment entries =
        MemorySegment.ofArray(new byte[offsets.length * PartitionTable.ENTRY_BYTES]);
    for (int i = 0; i < offsets.length; i++) {
      entries.set(LONG, (long) i * PartitionTable.ENTRY_BYTES, offsets[i]);
    }
    return entries;
  }

  /** Where the partition begins in the map output, and how long it is, added up. */
  public long find(int partition) {
    LocatedBlock block = LocatedBlock.of(blocks[partition], location, pages);
    return block.offset() + block.length();
  }
}
