// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.table;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.blocks.wire.ControlMessages;
import dev.sluice.blocks.wire.ControlMessages.GetTables;
import dev.sluice.blocks.wire.ControlMessages.NotStaged;
import dev.sluice.blocks.wire.ControlMessages.Partitions;
import dev.sluice.blocks.wire.ControlMessages.Tables;
import dev.sluice.blocks.wire.MapOutputLocation;
import dev.sluice.blocks.wire.TableSegment;
import dev.sluice.rdma.transfer.PeerAddress;
import dev.sluice.spark.transport.FakeStager;
import dev.sluice.spark.transport.FakeTransport;
import dev.sluice.spark.transport.FallbackReason;
import dev.sluice.spark.transport.MapOutput;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Partition tables of map outputs that are not registered. */
class StagedTablesTest {
  private static final int SHUFFLE = 3;
  private static final PeerAddress PEER = new PeerAddress("7", "peer", 1234);
  private static final long SECOND_NANOS = TimeUnit.SECONDS.toNanos(1);

  private final Queue<Runnable> steps = new ArrayDeque<>();
  private final FakeTransport transport = new FakeTransport(steps::add);
  private final Map<Long, MapOutput> outputs = new HashMap<>();
  private final FakeStager stager = new FakeStager(transport, outputs::get, () -> 0);
  private final AtomicLong nowNanos = new AtomicLong();
  private final TableReader reader =
      new TableReader(transport, steps::add, 1 << 20, transport.maxBufferBytes(), nowNanos::get);

  @BeforeEach
  void open() {
    transport.stager(stager);
  }

  private MapOutputLocation staged(long mapId, int... lengths) {
    MapOutput output = new MapOutput(mapId, lengths);
    outputs.put(mapId, output);
    return output.stage();
  }

  private static TableSlice piece(MapOutputLocation location, int start, int end) {
    TableSlice piece = new TableSlice(location);
    piece.want(location.slot(), start, end);
    return piece;
  }

  private void read(TableSlice... pieces) {
    CompletableFuture<Void> answer =
        reader.read(PEER, SHUFFLE, List.of(pieces), SECOND_NANOS, SECOND_NANOS);
    while (!steps.isEmpty()) {
      steps.remove().run();
    }
    assertThat(answer).isCompleted();
  }

  @Test
  void aTableIsAskedForAndNotRead() {
    TableSlice piece = piece(staged(5, 10, 20, 30), 1, 3);

    read(piece);

    assertThat(piece.failure()).isNull();
    assertThat(piece.header(0, 5).data().length()).isEqualTo(60);
    assertThat(piece.header(0, 5).isStaged()).isTrue();
    assertThat(piece.offset(0, 1)).isEqualTo(10);
    assertThat(piece.length(0, 2)).isEqualTo(30);
    assertThat(transport.reads()).isEmpty();
    assertThat(transport.questions())
        .as("half of the time; the other half is for READs")
        .containsExactly(new GetTables(SHUFFLE, 500, List.of(new Partitions(5, 1, 3))));
    assertThat(reader.heapBytes()).isZero();
  }

  @Test
  void oneQuestionCoversAllStagedTablesAndTheOthersAreRead() {
    TableSlice first = piece(staged(5, 10), 0, 1);
    TableSlice second = piece(staged(6, 20), 0, 1);
    MapOutputLocation registered = new MapOutput(7, 10, 30).register(transport, 1 << 20);
    TableSlice third = piece(registered, 1, 2);

    read(first, third, second);

    assertThat(transport.questions()).hasSize(1);
    assertThat(transport.reads()).hasSize(1);
    assertThat(first.length(0, 0)).isEqualTo(10);
    assertThat(second.length(0, 0)).isEqualTo(20);
    assertThat(third.length(registered.slot(), 1)).isEqualTo(30);
  }

  @Test
  void moreThanAnAnswerHoldsIsAskedForInParts() {
    int partitions = 2 * ControlMessages.MAX_ENTRIES + 100;
    int[] lengths = new int[partitions];
    Arrays.setAll(lengths, i -> i % 7);
    TableSlice large = piece(staged(5, lengths), 10, partitions);
    large.want(0, 3, 4);
    TableSlice small = piece(staged(6, 20), 0, 1);

    read(large, small);

    assertThat(transport.questions()).hasSizeGreaterThan(2).allMatch(StagedTablesTest::isAllowed);
    assertThat(large.length(0, 3)).isEqualTo(3);
    for (int partition = 10; partition < partitions; partition++) {
      assertThat(large.length(0, partition)).isEqualTo(partition % 7);
    }
    assertThat(large.header(0, 5)).isNotNull();
    assertThat(small.length(0, 0)).isEqualTo(20);
  }

  private static boolean isAllowed(GetTables question) {
    int entries = question.wanted().stream().mapToInt(part -> part.end() - part.start()).sum();
    return entries <= ControlMessages.MAX_ENTRIES
        && question.wanted().size() <= ControlMessages.MAX_PIECES;
  }

  @Test
  void moreMapOutputsThanARequestMayHaveAreAskedForInParts() {
    List<TableSlice> pieces = new ArrayList<>();
    for (int map = 0; map < ControlMessages.MAX_PIECES + 10; map++) {
      pieces.add(piece(staged(map, 1), 0, 1));
    }
    read(pieces.toArray(TableSlice[]::new));

    assertThat(transport.questions()).hasSize(2).allMatch(StagedTablesTest::isAllowed);
    assertThat(pieces).allMatch(piece -> piece.length(0, 0) == 1);
  }

  @Test
  void tablesThatThePeerLacksAreStaleAlone() {
    MapOutputLocation gone = new MapOutputLocation(9, TableSegment.unregistered(1), 0);
    TableSlice stale = piece(gone, 0, 1);
    TableSlice other = piece(staged(5, 10), 0, 1);

    read(stale, other);

    assertThat(stale.failure()).isEqualTo(FallbackReason.STALE_LOCATION);
    assertThat(other.failure()).isNull();
  }

  private FallbackReason failure() {
    TableSlice piece = piece(staged(5, 10), 0, 1);
    read(piece);
    return piece.failure();
  }

  @Test
  void malformedAnswersAreReported() {
    stager.tableAnswers(_ -> new NotStaged(true, "scripted"));
    assertThat(failure()).isEqualTo(FallbackReason.STALE_LOCATION);
    for (Object wrong :
        new Object[] {
          new NotStaged(false, "scripted"),
          new Tables(List.of()),
          new Tables(List.of(Tables.UNREADABLE)),
          new Tables(List.of(new long[3])),
          new Tables(List.of(new long[8])),
          "garbage",
          null
        }) {
      stager.tableAnswers(_ -> wrong);
      assertThat(failure()).as("%s", wrong).isEqualTo(FallbackReason.STAGING);
    }
    stager.tableAnswers(
        _ -> {
          throw new IllegalStateException("connection closed");
        });
    assertThat(failure()).isEqualTo(FallbackReason.STAGING);
  }

  /** An answer for another map output is not accepted. */
  @Test
  void theHeaderOfAnotherMapOutputIsRefused() {
    stager.tableAnswers(_ -> new Tables(List.of(new MapOutput(6, 10).table(0, 1))));
    TableSlice piece = piece(staged(5, 10), 0, 1);
    read(piece);
    assertThat(piece.header(0, 5)).isNull();
  }

  @Test
  void noPeerIsAskedAfterTheDeadline() {
    nowNanos.set(SECOND_NANOS);
    assertThat(failure()).isEqualTo(FallbackReason.DEADLINE);
    assertThat(transport.questions()).isEmpty();
  }
}
