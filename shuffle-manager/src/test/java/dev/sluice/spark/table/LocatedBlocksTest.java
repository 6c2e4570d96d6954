// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.table;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.blocks.wire.ChecksumAlgorithm;
import dev.sluice.blocks.wire.ControlMessages;
import dev.sluice.blocks.wire.ControlMessages.Stage;
import dev.sluice.blocks.wire.ControlMessages.Staged;
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
import java.util.stream.IntStream;
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
    assertThat(new Span(located, 0, 1, 1, false).regions(7, 8))
        .containsExactly(new RemoteRegion(ADDRESS + 99 * PARTITION_BYTES + 7, 8, 1));
    assertThat(located.checksum(0, 0)).isEqualTo(1099);
  }

  @Test
  void aBlockMayHaveManyPartitions() {
    LocatedBlocks located = locate(LOCATION, 62, 66);

    assertThat(new Span(located, 0, 1, 1, false).regions(0, 1))
        .containsExactly(new RemoteRegion(ADDRESS + 62 * PARTITION_BYTES, 1, 1));
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
    Blocks blocks = new Blocks(new int[] {3, 4, 4, 7, 2, 3, 50, 51});
    LocatedBlocks located = unread(blocks, LOCATION);
    Collection<TableSlice> pieces = located.slices();
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
        unread(new Blocks(new int[] {0, 3, 5, 8, 12, 13, 14, 15, 2, 6, 11, 16, 7, 9}), LOCATION);
    TableSlice piece = located.slices().iterator().next();
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
    LocatedBlocks located = unread(new Blocks(new int[] {3, 5}), LOCATION);
    TableSlice piece = located.slices().iterator().next();
    assertThat(piece.rows())
        .flatExtracting(TableSlice.Rows::regions)
        .containsExactly(
            LOCATION.segment().entries(3, 4, SLOT, SLOT),
            LOCATION.segment().entries(4, 5, SLOT, SLOT));
    fill(piece, PARTITION_BYTES);
    assertThat(located.fill().length(0)).isEqualTo(2 * PARTITION_BYTES);
  }

  /** Blocks of map outputs 0, 1, 2, ... that have to be staged, with partition 3 of each. */
  private static LocatedBlocks staged(int count, long meanBytes) {
    TableSegment same = TableSegment.unregistered(PARTITIONS);
    MapOutputLocation[] outputs = new MapOutputLocation[count];
    Arrays.setAll(outputs, map -> new MapOutputLocation(map, same, 0));
    int[] bounds = IntStream.range(0, 2 * count).map(i -> 3 + i % 2).toArray();
    Located located = new Located(new PeerAddress("7", "peer", 1234), outputs);
    return new LocatedBlocks(new Blocks(meanBytes, bounds), located, false);
  }

  private static long[] table(long mapId, long length) {
    RemoteRegion data = MapOutputHeader.unregistered(1 << 20);
    long[] table =
        Arrays.copyOf(
            new MapOutputHeader(mapId, data, ChecksumAlgorithm.CRC32C).toLongs(),
            MapOutputHeader.LONGS + TableEntry.LONGS);
    table[MapOutputHeader.LONGS] = TableEntry.first(100, length);
    table[MapOutputHeader.LONGS + 1] = TableEntry.second(length, 7);
    return table;
  }

  private static Staged answer(int bytes, long[]... tables) {
    return new Staged(1, new RemoteRegion(64, bytes, 9), 0, 1, -1, List.of(tables));
  }

  private static Stage request(Span span, int maxBytes) {
    return new Stage(3, 1_000, span.wanted(), 0, maxBytes);
  }

  @Test
  void nothingOfUnregisteredTablesIsRead() {
    LocatedBlocks located = staged(2, 10);
    assertThat(located.slices()).isEmpty();
    assertThat(located.fill().failure(0)).isNull();
    assertThat(located.isKnown(0)).isFalse();
    assertThat(located.isStaged(0)).isTrue();
    assertThat(Span.registered(located, 1_000, false)).isEmpty();
  }

  @Test
  void stagedBlocksAreDividedByTheirMeanSize() {
    List<Span> spans = Span.staged(staged(25, 80_000), 0, 25, 1 << 20, 1 << 22);
    assertThat(spans).extracting(Span::from).containsExactly(0, 11, 22);
    assertThat(spans).extracting(Span::to).containsExactly(11, 22, 25);
    assertThat(spans).extracting(Span::bytes).allMatch(bytes -> bytes % 4096 == 0);
    assertThat(Span.staged(staged(3, 2_000_000), 0, 3, 1 << 20, 1 << 22))
        .hasSize(3)
        .allMatch(span -> span.isSingle() && span.bytes() > 2_000_000);
  }

  @Test
  void withoutAMeanEachSpanHasAllBytes() {
    LocatedBlocks located = staged(ControlMessages.MAX_BLOCKS + 1, 0);
    assertThat(Span.staged(located, 0, 4097, 1 << 20, 1 << 20))
        .containsExactly(
            new Span(located, 0, 4096, 1 << 20, true),
            new Span(located, 4096, 4097, 1 << 20, true));
  }

  @Test
  void blocksOfTheCopyAreThereAndTheLengthsOfTheRestAreKnown() {
    LocatedBlocks located = staged(4, 100);
    Span all = new Span(located, 0, 4, 250, true);
    Stage asked = request(all, 250);
    Span there =
        all.take(asked, answer(200, table(0, 150), table(1, 50), table(2, 60), table(3, 5)));
    assertThat(there).isEqualTo(new Span(located, 0, 2, 200, true));
    assertThat(there.ends()).containsExactly(150, 200);
    assertThat(Span.staged(located, 2, 4, 1 << 20, 1 << 20))
        .containsExactly(new Span(located, 2, 4, 65, true));
  }

  /** The lengths of the partitions are from the first answer. */
  @Test
  void aBlockWhoseTableHasChangedIsStale() {
    LocatedBlocks located = staged(1, 100);
    Span one = new Span(located, 0, 1, 50, true);
    one.take(request(one, 50), answer(50, table(0, 150)));
    Stage rest = new Stage(3, 1_000, one.wanted(), 50, 100);
    assertThat(one.take(rest, answer(100, table(0, 150))))
        .isEqualTo(new Span(located, 0, 1, 100, true));
    one.take(rest, answer(100, table(0, 151)));
    assertThat(located.failure(0)).isEqualTo(FallbackReason.STALE_LOCATION);
  }

  @Test
  void aCopyThatIsLargerThanAskedForIsNotTaken() {
    LocatedBlocks located = staged(1, 100);
    Span one = new Span(located, 0, 1, 50, true);
    assertThat(one.take(request(one, 50), answer(51, table(0, 51)))).isNull();
  }

  @Test
  void blocksThatCannotBeStagedFailAloneAndHaveNoBytes() {
    LocatedBlocks located = staged(5, 100);
    Span all = new Span(located, 0, 5, 250, true);
    Span there =
        all.take(
            request(all, 250),
            answer(60, Staged.STALE, table(1, 50), Staged.UNREADABLE, table(3, 0), table(4, 10)));
    assertThat(there).isEqualTo(new Span(located, 0, 5, 60, true));
    assertThat(there.ends()).containsExactly(0, 50, 50, 50, 60);
    assertThat(located.failure(0)).isEqualTo(FallbackReason.STALE_LOCATION);
    assertThat(located.failure(2)).isEqualTo(FallbackReason.STAGING);
    assertThat(located.failure(3)).isEqualTo(FallbackReason.BLOCK_KIND);
    assertThat(there.all()).hasToString("{0, 1, 2, 3, 4}");
    assertThat(there.read()).hasToString("{1, 4}");
  }

  @Test
  void answersThatDoNotFitTheRequestAreRefused() {
    for (Staged wrong :
        List.of(
            answer(50, table(0, 50)),
            answer(51, table(0, 50), table(1, 60)),
            answer(0, table(0, 50), table(1, 60)),
            answer(110, table(0, 50), table(1, 70)))) {
      Span all = new Span(staged(2, 50), 0, 2, 100, true);
      assertThat(all.take(request(all, 100), wrong)).as("%s", wrong).isNull();
    }
    LocatedBlocks located = staged(2, 50);
    Span all = new Span(located, 0, 2, 100, true);
    Staged none = answer(0, table(0, 101), table(1, 60));
    assertThat(all.take(request(all, 100), none)).isEqualTo(new Span(located, 0, 0, 0, true));
  }

  @Test
  void aSingleBlockMayComeInPart() {
    LocatedBlocks located = staged(1, 50);
    Span one = new Span(located, 0, 1, 60, true);
    assertThat(one.take(request(one, 60), answer(60, table(0, 80))))
        .isEqualTo(new Span(located, 0, 1, 60, true));
    assertThat(one.take(request(one, 60), answer(0, table(0, 80)))).isNull();
    assertThat(one.take(request(one, 60), answer(81, table(0, 80)))).isNull();
  }

  /** An answer for another map output is not accepted. */
  @Test
  void theHeaderOfAnotherMapOutputIsStale() {
    LocatedBlocks located = staged(1, 50);
    Span one = new Span(located, 0, 1, 60, true);
    one.take(request(one, 60), answer(0, table(6, 10)));
    assertThat(located.failure(0)).isEqualTo(FallbackReason.STALE_LOCATION);
  }

  @Test
  void theSlotOfAnotherMapOutputIsStale() {
    MapOutputLocation other = new MapOutputLocation(6, LOCATION.segment(), SLOT);
    assertThat(locate(other, 3, 4).failure(0)).isEqualTo(FallbackReason.STALE_LOCATION);
  }

  @Test
  void partitionsThatDoNotFollowOneAnotherAreNoTable() {
    LocatedBlocks located = unread(new Blocks(new int[] {3, 5}), LOCATION);
    for (TableSlice piece : located.slices()) {
      fill(piece, PARTITION_BYTES + 1);
    }
    assertThat(located.fill().failure(0)).isEqualTo(FallbackReason.STALE_LOCATION);
  }

  /**
   * Blocks of map output 5.
   *
   * @param meanBytes estimated mean size
   * @param bounds the first partition of each block, and the one after its last
   */
  private record Blocks(long meanBytes, int[] bounds) implements BlockList {
    Blocks(int[] bounds) {
      this(0L, bounds);
    }

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
    located.slices().forEach(piece -> fill(piece, PARTITION_BYTES));
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
