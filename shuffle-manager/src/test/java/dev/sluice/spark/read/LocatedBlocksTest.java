package dev.sluice.spark.read;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.blocks.ChecksumAlgorithm;
import dev.sluice.blocks.MapOutputLocation;
import dev.sluice.blocks.PartitionTable;
import dev.sluice.rdma.RemoteRegion;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.junit.jupiter.api.Test;

/** The arithmetic of offsets, with a map output of 100 partitions of 5 GB each. */
class LocatedBlockTest {
  private static final long PARTITION_BYTES = 5_000_000_000L;
  private static final int PARTITIONS = 100;
  private static final long ADDRESS = 0x7f00_0000_0000L;
  private static final MapOutputLocation LOCATION =
      new MapOutputLocation(
          5,
          new RemoteRegion(ADDRESS, PARTITIONS * PARTITION_BYTES, 1),
          new RemoteRegion(64, (PARTITIONS + 1) * (long) PartitionTable.ENTRY_BYTES, 2),
          ChecksumAlgorithm.ADLER32);

  @Test
  void blockMayBeginAndEndBeyondFourGigabytes() {
    LocatedBlock located = locate("shuffle_3_5_99");

    assertThat(located.offset()).isEqualTo(99 * PARTITION_BYTES);
    assertThat(located.length()).isEqualTo(PARTITION_BYTES);
    assertThat(located.address()).isEqualTo(ADDRESS + 99 * PARTITION_BYTES);
    assertThat(located.checksums()).containsExactly(1099);
  }

  @Test
  void batchReachesOverPages() {
    LocatedBlock located = locate("shuffle_3_5_62_66");

    assertThat(located.offsets())
        .containsExactly(
            62 * PARTITION_BYTES,
            63 * PARTITION_BYTES,
            64 * PARTITION_BYTES,
            65 * PARTITION_BYTES,
            66 * PARTITION_BYTES);
    assertThat(located.checksums()).containsExactly(1062, 1063, 1064, 1065);
  }

  @Test
  void lastPageHasThePartitionsThatAreLeft() {
    PageKey last = PageKey.of(3, LOCATION, 1);

    assertThat(last.partitions()).isEqualTo(PARTITIONS - TablePage.PARTITIONS);
    assertThat(last.range().address()).isEqualTo(64 + 64 * PartitionTable.ENTRY_BYTES);
    assertThat(last.range().length()).isEqualTo(37 * PartitionTable.ENTRY_BYTES);
  }

  @Test
  void offsetsThatRunBackwardsAreNoTable() {
    MemorySegment entries = MemorySegment.ofArray(new long[] {10, 0, 9, 0});

    assertThat(TablePage.parse(entries, 1)).isNull();
  }

  private static LocatedBlock locate(String blockId) {
    TablePages pages = new TablePages();
    for (int page = 0; page < 2; page++) {
      PageKey key = PageKey.of(3, LOCATION, page);
      pages.found(key, TablePage.parse(entries(key), key.partitions()));
    }
    return LocatedBlock.of(RequestedBlock.parse(blockId), LOCATION, pages);
  }

  private static MemorySegment entries(PageKey key) {
    ByteBuffer entries = ByteBuffer.allocate(key.bytes()).order(ByteOrder.LITTLE_ENDIAN);
    for (int i = 0; i <= key.partitions(); i++) {
      int partition = key.page() * TablePage.PARTITIONS + i;
      entries.putLong(partition * PARTITION_BYTES).putLong(1000 + partition);
    }
    return MemorySegment.ofArray(entries.array());
  }
}
