package dev.sluice.spark.locate;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.blocks.wire.ChecksumAlgorithm;
import dev.sluice.blocks.wire.MapOutputLocation;
import dev.sluice.blocks.wire.PartitionTable;
import dev.sluice.rdma.RemoteRegion;
import dev.sluice.rdma.transfer.PeerAddress;
import dev.sluice.spark.locate.Locator.Located;
import dev.sluice.spark.transport.FallbackReason;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/** The arithmetic of offsets, with a map output of 100 partitions of 5 GB each. */
class LocatedBlocksTest {
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
    LocatedBlocks located = locate(LOCATION, 99, 100);

    assertThat(located.failure(0)).isNull();
    assertThat(located.length(0)).isEqualTo(PARTITION_BYTES);
    assertThat(located.extent(0, 7, 8).region())
        .isEqualTo(new RemoteRegion(ADDRESS + 99 * PARTITION_BYTES + 7, 8, 1));
    assertThat(located.checksum(0, 0)).isEqualTo(1099);
  }

  @Test
  void batchReachesOverPages() {
    LocatedBlocks located = locate(LOCATION, 62, 66);

    assertThat(located.extent(0, 0, 1).region().address())
        .isEqualTo(ADDRESS + 62 * PARTITION_BYTES);
    assertThat(located.length(0)).isEqualTo(4 * PARTITION_BYTES);
    assertThat(located.partitions(0)).isEqualTo(4);
    for (int partition = 0; partition < 4; partition++) {
      assertThat(located.length(0, partition)).isEqualTo(PARTITION_BYTES);
      assertThat(located.checksum(0, partition)).isEqualTo(1062 + partition);
    }
  }

  @Test
  void whatCannotBeReadSaysWhy() {
    LocatedBlocks located = locate(LOCATION, 99, 100, 100, 101);
    assertThat(located.failure(0)).isNull();
    assertThat(located.failure(1)).isEqualTo(FallbackReason.STALE_LOCATION);

    assertThat(locate(null, 99, 100).failure(0)).isEqualTo(FallbackReason.NOT_REGISTERED);
    MapOutputLocation smaller =
        new MapOutputLocation(
            5,
            new RemoteRegion(ADDRESS, 99 * PARTITION_BYTES, 1),
            LOCATION.table(),
            ChecksumAlgorithm.ADLER32);
    assertThat(locate(smaller, 98, 99).failure(0)).isNull();
    assertThat(locate(smaller, 99, 100).failure(0)).isEqualTo(FallbackReason.STALE_LOCATION);
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

  /**
   * Blocks of map output 5.
   *
   * @param bounds the first partition of each, and the one after its last
   */
  private record Blocks(int... bounds) implements BlockList {
    @Override
    public int shuffleId() {
      return 3;
    }

    @Override
    public int size() {
      return bounds.length / 2;
    }

    @Override
    public long[] mapIds() {
      return LongStream.range(0, size()).map(_ -> 5).toArray();
    }

    @Override
    public int startPartition(int block) {
      return bounds[2 * block];
    }

    @Override
    public int endPartition(int block) {
      return bounds[2 * block + 1];
    }

    @Override
    public String name(int block) {
      return "block " + block;
    }
  }

  private static LocatedBlocks locate(MapOutputLocation location, int... bounds) {
    TablePages pages = new TablePages();
    for (int page = 0; location != null && page < 2; page++) {
      PageKey key = PageKey.of(3, location, page);
      pages.found(key, TablePage.parse(entries(key), key.partitions()));
    }
    Blocks blocks = new Blocks(bounds);
    MapOutputLocation[] outputs = new MapOutputLocation[blocks.size()];
    Arrays.fill(outputs, location);
    LocatedBlocks located =
        new LocatedBlocks(blocks, new Located(new PeerAddress("7", "peer", 1234), outputs), false);
    located.fill(pages);
    return located;
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
