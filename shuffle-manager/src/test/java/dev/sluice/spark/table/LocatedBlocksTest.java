// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.table;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.blocks.wire.ChecksumAlgorithm;
import dev.sluice.blocks.wire.MapOutputHeader;
import dev.sluice.blocks.wire.MapOutputLocation;
import dev.sluice.blocks.wire.TableEntry;
import dev.sluice.blocks.wire.TableSegment;
import dev.sluice.rdma.RemoteRegion;
import dev.sluice.rdma.transfer.PeerAddress;
import dev.sluice.spark.locate.Locator.Located;
import dev.sluice.spark.transport.FallbackReason;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/** Arithmetic of offsets, with a map output of 100 partitions of 5 GB each. */
class LocatedBlocksTest {
  private static final long PARTITION_BYTES = 5_000_000_000L;
  private static final int PARTITIONS = 100;
  private static final long ADDRESS = 0x7f00_0000_0000L;
  private static final int SLOTS = 8;
  private static final int SLOT = 5;
  private static final int FIRST_SLOT = 3;
  private static final MapOutputLocation LOCATION =
      new MapOutputLocation(
          5,
          new TableSegment(new RemoteRegion(64, TableSegment.bytes(SLOTS, PARTITIONS), 2), SLOTS),
          SLOT);

  private long dataBytes = PARTITIONS * PARTITION_BYTES;

  @Test
  void blockMayBeginAndEndBeyondFourGigabytes() {
    LocatedBlocks located = locate(LOCATION, 99, 100);

    assertThat(located.failure(0)).isNull();
    assertThat(located.length(0)).isEqualTo(PARTITION_BYTES);
    assertThat(located.range(0, 7, 8).region())
        .isEqualTo(new RemoteRegion(ADDRESS + 99 * PARTITION_BYTES + 7, 8, 1));
    assertThat(located.checksum(0, 0)).isEqualTo(1099);
  }

  @Test
  void aBlockMayHaveManyPartitions() {
    LocatedBlocks located = locate(LOCATION, 62, 66);

    assertThat(located.range(0, 0, 1).region().address()).isEqualTo(ADDRESS + 62 * PARTITION_BYTES);
    assertThat(located.length(0)).isEqualTo(4 * PARTITION_BYTES);
    assertThat(located.partitions(0)).isEqualTo(4);
    for (int partition = 0; partition < 4; partition++) {
      assertThat(located.length(0, partition)).isEqualTo(PARTITION_BYTES);
      assertThat(located.checksum(0, partition)).isEqualTo(1062 + partition);
    }
  }

  @Test
  void unreadableBlocksHaveAReason() {
    LocatedBlocks located = locate(LOCATION, 99, 100, 100, 101);
    assertThat(located.failure(0)).isNull();
    assertThat(located.failure(1)).isEqualTo(FallbackReason.STALE_LOCATION);

    assertThat(locate(null, 99, 100).failure(0)).isEqualTo(FallbackReason.NOT_REGISTERED);
    dataBytes = 99 * PARTITION_BYTES;
    assertThat(locate(LOCATION, 98, 99).failure(0)).isNull();
    assertThat(locate(LOCATION, 99, 100).failure(0)).isEqualTo(FallbackReason.STALE_LOCATION);
  }

  @Test
  void adjoiningBlocksAreOnePieceOfTheTable() {
    Blocks blocks = new Blocks(3, 4, 4, 7, 2, 3, 50, 51);
    LocatedBlocks located = unread(blocks, LOCATION);
    Collection<TableSlice> pieces = located.pieces();
    pieces.forEach(piece -> piece.want(FIRST_SLOT, 3, 4)); // of another map output

    assertThat(pieces.iterator().next().rows())
        .flatExtracting(TableSlice.Rows::regions)
        .containsExactly(
            LOCATION.segment().entries(2, 7, FIRST_SLOT, SLOT),
            LOCATION.segment().entries(50, 51, FIRST_SLOT, SLOT));
  }

  @Test
  void overlappingBlocksAreReadOnce() {
    LocatedBlocks located =
        unread(new Blocks(0, 3, 5, 8, 12, 13, 14, 15, 2, 6, 11, 16, 7, 9), LOCATION);
    TableSlice piece = located.pieces().iterator().next();
    piece.want(FIRST_SLOT, 0, 1);

    assertThat(piece.rows())
        .flatExtracting(TableSlice.Rows::regions)
        .containsExactly(
            LOCATION.segment().entries(0, 9, FIRST_SLOT, SLOT),
            LOCATION.segment().entries(11, 16, FIRST_SLOT, SLOT));
  }

  /** AQE's local reader requests all partitions of one map output. */
  @Test
  void onlyTheNeededSlotsAreRead() {
    LocatedBlocks located = unread(new Blocks(3, 5), LOCATION);
    TableSlice piece = located.pieces().iterator().next();
    assertThat(piece.rows())
        .flatExtracting(TableSlice.Rows::regions)
        .containsExactly(
            LOCATION.segment().entries(3, 4, SLOT, SLOT),
            LOCATION.segment().entries(4, 5, SLOT, SLOT));
    fill(piece, PARTITION_BYTES);
    assertThat(located.fill().length(0)).isEqualTo(2 * PARTITION_BYTES);
  }

  /** Unregistered segments are equal and cannot be READ. */
  @Test
  void eachMapOutputThatIsStagedHasATableOfItsOwn() {
    TableSegment same = TableSegment.unregistered(PARTITIONS);
    MapOutputLocation[] outputs = new MapOutputLocation[4];
    for (int map = 0; map < 4; map++) {
      outputs[map] = new MapOutputLocation(map / 2, same, 0);
    }
    PeerAddress peer = new PeerAddress("7", "peer", 1234);
    Blocks blocks = new Blocks(3, 4, 4, 7, 3, 4, 8, 9);
    LocatedBlocks located = new LocatedBlocks(blocks, new Located(peer, outputs), false);

    Collection<TableSlice> pieces = located.pieces();

    assertThat(pieces).extracting(TableSlice::mapId).containsExactly(0L, 1L);
    assertThat(pieces).extracting(piece -> piece.rows().size()).containsExactly(1, 2);
  }

  @Test
  void theSlotOfAnotherMapOutputIsStale() {
    MapOutputLocation other = new MapOutputLocation(6, LOCATION.segment(), SLOT);
    assertThat(locate(other, 3, 4).failure(0)).isEqualTo(FallbackReason.STALE_LOCATION);
  }

  @Test
  void partitionsThatDoNotFollowOneAnotherAreNoTable() {
    LocatedBlocks located = unread(new Blocks(3, 5), LOCATION);
    for (TableSlice piece : located.pieces()) {
      fill(piece, PARTITION_BYTES + 1);
    }
    assertThat(located.fill().failure(0)).isEqualTo(FallbackReason.STALE_LOCATION);
  }

  /**
   * Blocks of map output 5.
   *
   * @param bounds the first partition of each block, and the one after its last
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

  private LocatedBlocks locate(MapOutputLocation location, int... bounds) {
    LocatedBlocks located = unread(new Blocks(bounds), location);
    located.pieces().forEach(piece -> fill(piece, PARTITION_BYTES));
    return located.fill();
  }

  private static LocatedBlocks unread(Blocks blocks, MapOutputLocation location) {
    MapOutputLocation[] outputs = new MapOutputLocation[blocks.size()];
    Arrays.fill(outputs, location);
    return new LocatedBlocks(
        blocks, new Located(new PeerAddress("7", "peer", 1234), outputs), false);
  }

  /** Fills a piece as a READ does. */
  private void fill(TableSlice piece, long partitionBytes) {
    long[] headers = new long[SLOTS * MapOutputHeader.LONGS];
    RemoteRegion data = new RemoteRegion(ADDRESS, dataBytes, 1);
    MapOutputHeader header = new MapOutputHeader(5, data, ChecksumAlgorithm.ADLER32);
    System.arraycopy(
        header.toLongs(), 0, headers, SLOT * MapOutputHeader.LONGS, MapOutputHeader.LONGS);
    piece.headers(headers);

    piece.rows().forEach(rows -> rows.entries(entries(rows.regions(), partitionBytes)));
  }

  /** Returns entries for the slot with which each region starts. */
  private static long[] entries(List<RemoteRegion> regions, long partitionBytes) {
    long rowBytes = (long) SLOTS * TableEntry.BYTES;
    LongStream.Builder entries = LongStream.builder();
    for (RemoteRegion region : regions) {
      long first = region.address() - LOCATION.segment().entries(0, 1, SLOT, SLOT).address();
      for (long at = 0; at < region.length(); at += TableEntry.BYTES) {
        long partition = (first + at) / rowBytes;
        entries.add(TableEntry.first(partition * PARTITION_BYTES, partitionBytes));
        entries.add(TableEntry.second(partitionBytes, 1000 + partition));
      }
    }
    return entries.build().toArray();
  }
}
