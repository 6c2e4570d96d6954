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
import dev.sluice.rdma.transfer.ReadException.Cause;
import dev.sluice.spark.transport.FakeTransport;
import dev.sluice.spark.transport.FallbackReason;
import dev.sluice.spark.transport.MapOutput;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.LongBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class TableReaderTest {
  private static final int SHUFFLE = 3;

  /** Number of partitions of tables that are not READ whole. */
  private static final int MANY = TableSlice.FEW_PARTITIONS + 1;

  private static final RemoteRegion DATA = new RemoteRegion(1 << 30, 40, 9);
  private static final PeerAddress PEER = new PeerAddress("7", "peer", 1234);

  private final Queue<Runnable> steps = new ArrayDeque<>();
  private final FakeTransport transport = new FakeTransport(steps::add);
  private TableReader reader = reader(1 << 20);

  @AfterEach
  void buffersAreGivenBack() {
    assertThat(transport.buffersOut()).isZero();
  }

  @Test
  void headersAreReadOnceForManyReducers() {
    List<MapOutputLocation> maps = maps(100, MANY);
    for (int partition = 0; partition < 10; partition++) {
      for (TableSlice piece : read(maps, partition, partition + 1)) {
        assertThat(piece.failure()).isNull();
      }
    }

    assertThat(transport.reads()).hasSize(10);
    assertThat(transport.reads().getFirst().bytes())
        .isEqualTo(100 * (MapOutputHeader.BYTES + TableEntry.BYTES));
    assertThat(transport.reads().subList(1, 10))
        .allMatch(read -> read.bytes() == 100 * TableEntry.BYTES);
  }

  @Test
  void tablesOfFewPartitionsAreReadOnceForManyReducers() {
    MapOutput output = new MapOutput(5, 10, 20, 30);
    MapOutputLocation location = output.register(transport, 1 << 20);
    for (int partition = 0; partition < 3; partition++) {
      TableSlice piece = read(List.of(location), partition, partition + 1).getFirst();
      assertThat(offset(piece, location.slot(), partition))
          .isEqualTo(5L * partition * (partition + 1));
      assertThat(length(piece, location.slot(), partition)).isEqualTo(10 * (partition + 1));
      assertThat(header(List.of(piece), location).data().length()).isEqualTo(60);
    }
    assertThat(transport.reads()).hasSize(1);
    assertThat(transport.reads().getFirst().ranges()).containsExactly(location.segment().region());
  }

  @Test
  void noMoreIsReadWholeThanMayBeKept() {
    int[] lengths = IntStream.rangeClosed(1, TableSlice.FEW_PARTITIONS).toArray();
    List<MapOutputLocation> maps = new ArrayList<>();
    for (int map = 0; map < 3; map++) {
      maps.add(new MapOutput(map, lengths).register(transport, (map + 1L) << 20));
    }
    reader = reader(5 * maps.getFirst().segment().region().length());
    for (int partition = 0; partition < 2; partition++) {
      List<TableSlice> pieces = read(maps, partition, partition + 1);
      for (int map = 0; map < 3; map++) {
        TableSlice piece = pieces.get(map);
        assertThat(piece.isWhole()).isEqualTo(map < 2);
        assertThat(header(List.of(piece), maps.get(map))).isNotNull();
        assertThat(length(piece, maps.get(map).slot(), partition)).isEqualTo(lengths[partition]);
      }
    }
    assertThat(transport.reads()).hasSize(2);
    assertThat(transport.reads().getLast().bytes()).isEqualTo(TableEntry.BYTES);
  }

  /** A peer deregisters map outputs if it does not hear that readers use them. */
  @Test
  void thePeerHearsAlsoOfReducersWhoseTablesAreKnown() {
    List<MapOutputLocation> maps = maps(1, 10);
    read(maps, 0, 1);
    read(maps, 1, 2);
    assertThat(transport.reads()).hasSize(1);
    assertThat(transport.touched()).containsExactly(PEER, PEER);
  }

  @Test
  void aSlotThatWasBeingWrittenIsReadAgainWhereAllWasRead() {
    TableSegment segment =
        new TableSegment(new RemoteRegion(1 << 20, TableSegment.bytes(2, 1), 7), 2);
    LongBuffer table = table(segment);
    table.put(0, new MapOutputHeader(1, DATA, ChecksumAlgorithm.NONE).toLongs());
    table.put(4, new MapOutputHeader(2, DATA, ChecksumAlgorithm.NONE).toLongs());
    table.put((int) segment.entry(0, 0) / Long.BYTES, TableEntry.first(0, 10));
    read(List.of(new MapOutputLocation(1, segment, 0)), 0, 1);

    table.put((int) segment.entry(0, 1) / Long.BYTES, TableEntry.first(30, 10));
    TableSlice second = read(List.of(new MapOutputLocation(2, segment, 1)), 0, 1).getFirst();

    assertThat(offset(second, 1, 0)).isEqualTo(30);
    assertThat(transport.reads()).hasSize(2);
    assertThat(read(List.of(new MapOutputLocation(1, segment, 0)), 0, 1)).hasSize(1);
    assertThat(transport.reads()).hasSize(2);
  }

  private LongBuffer table(TableSegment segment) {
    byte[] bytes = new byte[(int) segment.region().length()];
    transport.map(segment.region().address(), bytes);
    return ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).asLongBuffer();
  }

  @Test
  void aHeaderThatWasNotThereIsReadAgain() {
    MapOutputLocation location = maps(1, MANY).getFirst();
    RemoteRegion header = location.segment().headers(location.slot(), location.slot() + 1);
    transport.afterRead(
        read -> {
          if (read.ranges().contains(header)) {
            read.target().asSlice(0, header.length()).fill((byte) 0);
          }
        });
    assertThat(header(read(List.of(location), 0, 1), location)).isNull();

    transport.afterRead(_ -> {});
    assertThat(header(read(List.of(location), 0, 1), location)).isNotNull();
    assertThat(transport.reads()).hasSize(2);
  }

  @Test
  void readsFitTheirRequests() {
    transport.maxBufferBytes(100);
    reader = reader(1 << 20);
    MapOutput output = new MapOutput(5, 10, 20, 30, 40, 50, 60, 70, 80);
    MapOutputLocation location = output.register(transport, 1 << 20);

    TableSlice piece = read(List.of(location), 0, 8).getFirst();

    assertThat(transport.reads()).hasSizeGreaterThan(1).allMatch(read -> read.bytes() <= 100);
    for (int partition = 0; partition < 8; partition++) {
      assertThat(length(piece, location.slot(), partition)).isEqualTo(10 * (partition + 1));
    }
    assertThat(header(List.of(piece), location).data().length()).isEqualTo(360);
  }

  @Test
  void leastRecentlyUsedHeadersLeaveWhenThereAreTooMany() {
    List<MapOutputLocation> maps = maps(4, MANY);
    reader = reader(3 * 300);
    for (int map : new int[] {0, 1, 2, 0, 3}) {
      read(maps.subList(map, map + 1), 0, 1);
    }
    assertThat(headersRead()).isEqualTo(4);
    assertThat(reader.heapBytes()).isBetween(1L, 3 * 300L);

    read(maps.subList(0, 1), 0, 1);
    assertThat(headersRead()).isEqualTo(4);
    read(maps.subList(1, 2), 0, 1);
    assertThat(headersRead()).isEqualTo(5);
  }

  private long headersRead() {
    return transport.reads().stream().filter(read -> read.ranges().size() == 2).count();
  }

  @Test
  void tablesAreAnsweredWithoutACache() {
    reader = reader(0);
    List<MapOutputLocation> maps = maps(1, MANY);

    assertThat(header(read(maps, 0, 1), maps.getFirst())).isNotNull();
    assertThat(reader.heapBytes()).isZero();
  }

  @Test
  void failedReadsAreNotCached() {
    List<MapOutputLocation> maps = maps(1, MANY);
    transport.script((number, _) -> number == 0 ? Cause.CONNECT : null);

    assertThat(read(maps, 0, 1).getFirst().failure()).isEqualTo(FallbackReason.CONNECT);
    assertThat(header(read(maps, 0, 1), maps.getFirst())).isNotNull();
  }

  @Test
  void noBufferIsAFailure() {
    transport.poolBytes(0);
    assertThat(read(maps(1, MANY), 0, 1).getFirst().failure()).isEqualTo(FallbackReason.BUFFERS);
  }

  @Test
  void aReadThatCannotBeAskedForHasItsAnswer() {
    List<MapOutputLocation> maps = maps(1, MANY);
    transport.script(
        (_, _) -> {
          throw new OutOfMemoryError("scripted");
        });
    assertThat(read(maps, 0, 1).getFirst().failure()).isEqualTo(FallbackReason.TRANSPORT);
    assertThat(transport.buffersOut()).isZero();

    transport.script(FakeTransport.Script.SUCCEED);
    assertThat(read(maps, 0, 1).getFirst().failure()).isNull();
  }

  @Test
  void aNewRegistrationIsReadAnew() {
    MapOutput output = new MapOutput(1, 10, 20);
    read(List.of(output.register(transport, 1 << 20)), 0, 1);
    read(List.of(output.register(transport, 2 << 20)), 0, 1);

    assertThat(transport.reads()).hasSize(2);
  }

  @Test
  void anUnregisteredShuffleIsForgotten() {
    List<MapOutputLocation> maps = maps(5, MANY);
    read(maps, 0, 1);
    reader.drop(SHUFFLE + 1);
    assertThat(reader.heapBytes()).isPositive();

    reader.drop(SHUFFLE);

    assertThat(reader.heapBytes()).isZero();
    read(maps, 0, 1);
    assertThat(transport.reads().getLast().ranges()).hasSize(10);
  }

  @Test
  void aStaleLocationIsForgottenAlone() {
    List<MapOutputLocation> maps = maps(2, MANY);
    read(maps, 0, 1);

    reader.drop(SHUFFLE, maps.getFirst());
    read(maps, 0, 1);

    assertThat(transport.reads().getLast().ranges()).hasSize(3);
    reader.drop(SHUFFLE, maps.getFirst());
    reader.drop(SHUFFLE, maps.getFirst());
    reader.drop(SHUFFLE, maps.getLast());
    assertThat(reader.heapBytes()).isZero();
  }

  private TableReader reader(long maxBytes) {
    return new TableReader(transport, steps::add, maxBytes, transport.maxBufferBytes());
  }

  private List<MapOutputLocation> maps(int count, int partitions) {
    List<MapOutputLocation> maps = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      maps.add(new MapOutput(i, new int[partitions]).register(transport, (i + 1L) << 20));
    }
    return maps;
  }

  private List<TableSlice> read(List<MapOutputLocation> maps, int start, int end) {
    List<TableSlice> pieces = new ArrayList<>();
    for (MapOutputLocation map : maps) {
      TableSlice piece = new TableSlice(map);
      piece.want(map.slot(), start, end);
      pieces.add(piece);
    }
    CompletableFuture<Void> answer = reader.read(PEER, SHUFFLE, pieces, 10, 10, TableReads.UNTIMED);
    runSteps();
    assertThat(answer).isCompleted();
    return pieces;
  }

  private static long offset(TableSlice piece, int slot, int partition) {
    return TableEntry.offset(piece.entries(partition)[piece.index(slot, partition)]);
  }

  private static long length(TableSlice piece, int slot, int partition) {
    long[] entries = piece.entries(partition);
    int index = piece.index(slot, partition);
    return TableEntry.length(entries[index], entries[index + 1]);
  }

  private void runSteps() {
    while (!steps.isEmpty()) {
      steps.remove().run();
    }
  }

  private static MapOutputHeader header(List<TableSlice> pieces, MapOutputLocation location) {
    return pieces.getFirst().header(location.slot(), location.mapId());
  }

  @Test
  void segmentsOfManySlotsAreReadInOnePiece() {
    TableSegment segment =
        new TableSegment(new RemoteRegion(1 << 20, TableSegment.bytes(64, 100), 7), 64);
    transport.map(1 << 20, new byte[(int) TableSegment.bytes(64, 100)]);
    TableSlice piece = new TableSlice(new MapOutputLocation(1, segment, 0));
    for (int slot = 0; slot < 64; slot++) {
      piece.want(slot, 17, 18);
    }
    reader.read(PEER, SHUFFLE, List.of(piece), 10, 10, TableReads.UNTIMED);
    runSteps();

    assertThat(transport.reads().getFirst().ranges())
        .containsExactly(segment.headers(0, 64), segment.entries(17, 18, 0, 63));
    assertThat(segment.entries(17, 18, 0, 63).length()).isEqualTo(64 * TableEntry.BYTES);
  }
}
