// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.fetch;

import static dev.sluice.spark.fetch.ReadFixture.batch;
import static dev.sluice.spark.fetch.ReadFixture.block;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.blocks.wire.MapOutputHeader;
import dev.sluice.rdma.transfer.ReadException.Cause;
import dev.sluice.spark.fetch.RdmaBlockStoreClient.ReadOptions;
import dev.sluice.spark.transport.FakeTransport;
import dev.sluice.spark.transport.FallbackReason;
import dev.sluice.spark.transport.MapOutput;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.foreign.ValueLayout;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Queue;
import java.util.stream.IntStream;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.apache.spark.network.shuffle.BlockFetchingListener;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Fetches of blocks to memory. */
class RdmaBlockStoreClientTest {
  private ReadFixture fixture = new ReadFixture();

  @AfterEach
  void everythingIsGivenBack() {
    fixture.listener.releaseKept();
    assertThat(fixture.transport.buffersOut()).isZero();
    assertThat(fixture.listener.repeated()).isEmpty();
    assertThat(fixture.timer.scheduled()).isZero();
  }

  @Test
  void blocksOfManyMapOutputsAreReadWithOneRequest() {
    String[] blocks = {block(10, 1), block(11, 0), block(12, 2)};
    for (long mapId = 10; mapId < 13; mapId++) {
      fixture.registered(mapId, 100, 200, 300);
    }

    fixture.fetch(blocks);

    fixture.assertDelivered(blocks);
    assertThat(fixture.transport.reads())
        .hasSize(2)
        .last()
        .satisfies(
            read -> {
              assertThat(read.ranges()).hasSize(3);
              assertThat(read.bytes()).isEqualTo(600);
            });
    assertThat(fixture.count("read.blocks")).isEqualTo(3);
    assertThat(fixture.count("read.bytes")).isEqualTo(600);
    assertThat(fixture.spark.fetches()).isEmpty();
  }

  /** Tasks wait for the tables, while others READ all their data at once. */
  @Test
  void readsOfPartitionTablesAreSmallEnoughToGoFirst() {
    fixture = new ReadFixture(ReadFixture.OPTIONS.with(o -> o.maxGroupBytes = 1 << 20));
    String[] blocks = new String[2000];
    int[] lengths = Arrays.copyOf(new int[] {1, 100, 1}, 40);
    for (int map = 0; map < blocks.length; map++) {
      fixture.registered(map, lengths);
      blocks[map] = block(map, 1);
    }

    fixture.fetch(blocks);

    fixture.assertDelivered(blocks);
    assertThat(fixture.transport.reads())
        .extracting(FakeTransport.Read::bytes)
        .containsExactly(65_520L, 30_480L, 200_000L);
  }

  @Test
  void thePeerLearnsThatItsShuffleIsInUse() {
    fixture.registered(10, 5);

    fixture.fetch(block(10, 0));

    assertThat(fixture.transport.touched()).extracting("id").containsOnly("7").hasSize(2);
  }

  @Test
  void adjoiningBlocksAreOneRange() {
    String[] blocks = {block(10, 3), block(10, 0), block(10, 1)};
    fixture.registered(10, 10, 20, 0, 40, 50);

    fixture.fetch(blocks);

    fixture.assertDelivered(blocks);
    assertThat(fixture.transport.reads().getLast().ranges()).hasSize(1);
  }

  @Test
  void batchOfPartitionsIsOneBlock() {
    fixture.registered(10, 10, 0, 30, 40);

    fixture.fetch(batch(10, 1, 4));

    fixture.assertDelivered(batch(10, 1, 4));
    assertThat(fixture.count("read.blocks")).isEqualTo(1);
  }

  @Test
  void aBatchIsOnePieceOfTheTable() {
    int[] lengths = new int[200];
    Arrays.fill(lengths, 3);
    fixture.registered(10, lengths);

    fixture.fetch(batch(10, 50, lengths.length));

    fixture.assertDelivered(batch(10, 50, lengths.length));
    assertThat(fixture.transport.reads().getFirst().ranges()).as("header, entries").hasSize(2);
  }

  @Test
  void groupsFitTheirBuffers() {
    fixture.transport.maxBufferBytes(8192);
    fixture.registered(10, 3000, 3000, 3000, 3000);
    String[] blocks =
        IntStream.range(0, 4).mapToObj(partition -> block(10, partition)).toArray(String[]::new);

    fixture.fetch(blocks);

    fixture.assertDelivered(blocks);
    assertThat(fixture.transport.reads()).hasSize(3);
  }

  @Test
  void emptyBlockIsLeftToSpark() {
    fixture.registered(10, 0, 100);

    fixture.fetch(block(10, 0), block(10, 1));

    assertFellBack(FallbackReason.BLOCK_KIND, block(10, 0));
    assertThat(fixture.count("read.blocks")).isEqualTo(1);
  }

  @Test
  void onlyUnregisteredMapOutputsGoToSpark() {
    fixture.registered(10, 100);
    fixture.unregistered(11, 100);

    fixture.fetch(block(10, 0), block(11, 0));

    fixture.assertDelivered(block(10, 0), block(11, 0));
    assertFellBack(FallbackReason.NOT_REGISTERED, block(11, 0));
    assertThat(fixture.count("fallback.bytes.NOT_REGISTERED")).isEqualTo(100);
  }

  @Test
  void peerWithoutRdmaIsLeftToSpark() {
    fixture.registered(10, 100);
    fixture.locator.peer(null);

    fixture.fetch(block(10, 0));

    assertFellBack(FallbackReason.PEER, block(10, 0));
  }

  @Test
  void otherKindsOfBlocksAreLeftToSpark() {
    fixture.registered(10, 100);
    String[] ids = {"shuffle_3_10_0", "rdd_1_2"};
    fixture.spark.lose("rdd_1_2");

    fixture.fetch(ids);

    assertThat(fixture.spark.blockIdsFetched()).containsExactly(ids);
    assertThat(fixture.fallbacks(FallbackReason.BLOCK_KIND)).isEqualTo(2);
    assertThat(fixture.locator.executorsAsked()).isEmpty();
  }

  @Test
  void ownBlocksAndThoseOfFallbackStorageAreLeftToSpark() {
    fixture.unregistered(10, 100, 100);

    fixture.client.fetchBlocks("h", 1, "1", ids(block(10, 0)), fixture.listener, null);
    fixture.client.fetchBlocks("h", 1, "fallback", ids(block(10, 1)), fixture.listener, null);

    assertThat(fixture.spark.fetches()).hasSize(2);
    assertThat(fixture.locator.executorsAsked()).isEmpty();
  }

  @Test
  void theLocatorHearsOfATaskBeforeItFetches() {
    fixture.client.prepare(3);
    assertThat(fixture.locator.prepared()).containsExactly(3);
  }

  @Test
  void whereNothingIsReadEverythingIsLeftToSpark() {
    fixture.registered(10, 100);
    ShuffleClient without =
        ShuffleClient.without(fixture.spark, FallbackReason.WIRE_ENCRYPTION, fixture.counters);

    without.prepare(ReadFixture.SHUFFLE);
    without.fetchBlocks("host", 99, "7", ids(block(10, 0)), fixture.listener, null);
    without.unregisterShuffle(ReadFixture.SHUFFLE);

    fixture.assertDelivered(block(10, 0));
    assertFellBack(FallbackReason.WIRE_ENCRYPTION, block(10, 0));
  }

  @Test
  void blocksAreGatheredOnlyWhereATaskMayHaveSome() {
    assertThat(fixture.client.gathers()).isTrue();
    ReadOptions none = ReadOptions.DEFAULT.with(o -> o.gatherBytes = 0);
    assertThat(new ReadFixture(none).client.gathers()).isFalse();
  }

  @Test
  void staleLocationIsAskedForAgain() {
    MapOutput output = fixture.registered(10, 100);
    fixture.transport.script((number, read) -> number == 1 ? Cause.STALE_LOCATION : null);
    fixture.locator.onInvalidate(_ -> fixture.register(output));

    fixture.fetch(block(10, 0));

    fixture.assertDelivered(block(10, 0));
    assertThat(fixture.locator.invalidated()).hasSize(1);
    assertThat(fixture.locator.executorsAsked()).hasSize(2);
    assertThat(fixture.transport.reads()).as("table, data, table, data").hasSize(4);
    assertThat(fixture.spark.fetches()).isEmpty();
  }

  @Test
  void locationThatStaysStaleGoesToSpark() {
    fixture.registered(10, 100);
    fixture.transport.script((_, read) -> read.bytes() == 100 ? Cause.STALE_LOCATION : null);

    fixture.fetch(block(10, 0));

    fixture.assertDelivered(block(10, 0));
    assertFellBack(FallbackReason.STALE_LOCATION, block(10, 0));
    assertThat(fixture.locator.invalidated()).hasSize(1);
  }

  @Test
  void oneLocationThatStaysStaleSendsNoOtherBlocksToSpark() {
    fixture.registered(10, 100);
    fixture.registered(11, 101);
    fixture.registered(12, 102);
    fixture.transport.script(
        (_, read) ->
            read.ranges().stream().anyMatch(range -> range.length() == 101)
                ? Cause.STALE_LOCATION
                : null);

    fixture.fetch(block(10, 0), block(11, 0), block(12, 0));

    fixture.assertDelivered(block(10, 0), block(11, 0), block(12, 0));
    assertFellBack(FallbackReason.STALE_LOCATION, block(11, 0));
    assertThat(fixture.count("read.blocks")).isEqualTo(2);
  }

  @Test
  void blocksThatAreStagedAfterStaleLocationsAreAskedForTogether() {
    MapOutput[] outputs = {fixture.registered(10, 100), fixture.registered(11, 100)};
    fixture.transport.script((number, _) -> number == 1 ? Cause.STALE_LOCATION : null);
    fixture.locator.onInvalidate(_ -> Arrays.stream(outputs).forEach(fixture::stage));

    fixture.fetch(block(10, 0), block(11, 0));

    fixture.assertDelivered(block(10, 0), block(11, 0));
    assertThat(fixture.transport.stages()).hasSize(1);
  }

  @Test
  void tableWithFewerPartitionsThanAskedForIsStale() {
    fixture.registered(10, 100, 100);
    fixture.register(new MapOutput(10, 100));

    fixture.fetch(block(10, 1));

    assertFellBack(FallbackReason.STALE_LOCATION, block(10, 1));
  }

  @Test
  void bytesThatAreNoTableAreStale() {
    fixture.registered(10, 100, 100);
    long mapId = MapOutputHeader.BYTES; // The second slot's.
    fixture.transport.afterRead(
        read -> read.target().set(ValueLayout.JAVA_BYTE, mapId + 7, (byte) -1));

    fixture.fetch(block(10, 1));

    fixture.assertDelivered(block(10, 1));
    assertFellBack(FallbackReason.STALE_LOCATION, block(10, 1));
  }

  @Test
  void failedReadGoesToSparkWithItsReason() {
    fixture.registered(10, 100);
    fixture.registered(11, 100);
    fixture.transport.script((number, _) -> number == 0 ? null : Cause.CIRCUIT_OPEN);

    fixture.fetch(block(10, 0), block(11, 0));

    fixture.assertDelivered(block(10, 0), block(11, 0));
    assertFellBack(FallbackReason.CIRCUIT_OPEN, block(10, 0), block(11, 0));
  }

  @Test
  void wrongBytesAreReadOnceMore() {
    fixture.registered(10, 100, 100);
    fixture.transport.afterRead(read -> corrupt(read, fixture.transport.reads().size() == 2));

    fixture.fetch(block(10, 0), block(10, 1));

    fixture.assertDelivered(block(10, 0), block(10, 1));
    assertThat(fixture.transport.reads()).as("table, both, the first alone").hasSize(3);
    assertThat(fixture.transport.reads().getLast().bytes()).isEqualTo(100);
    assertThat(fixture.count("corruptions")).isEqualTo(1);
    assertThat(fixture.spark.fetches()).isEmpty();
  }

  @Test
  void blockWhoseBytesStayWrongGoesToSpark() {
    fixture.registered(10, 100, 100);
    fixture.transport.afterRead(read -> corrupt(read, fixture.transport.reads().size() > 1));

    fixture.fetch(block(10, 0), block(10, 1));

    fixture.assertDelivered(block(10, 0), block(10, 1));
    assertFellBack(FallbackReason.CHECKSUM, block(10, 0));
    assertThat(fixture.count("corruptions")).isEqualTo(2);
  }

  @Test
  void wrongByteInOnePartitionOfABatchIsNoticed() {
    fixture.registered(10, 40, 0, 60);
    fixture.transport.afterRead(read -> corrupt(read, fixture.transport.reads().size() > 1));

    fixture.fetch(batch(10, 0, 3));

    assertFellBack(FallbackReason.CHECKSUM, batch(10, 0, 3));
  }

  @Test
  void withoutVerificationBytesAreDeliveredAsTheyAre() {
    fixture =
        new ReadFixture(
            ReadOptions.DEFAULT.with(
                o -> {
                  o.verifyChecksums = false;
                  o.gatherBytes = 0;
                }));
    fixture.registered(10, 100);
    fixture.transport.afterRead(read -> corrupt(read, fixture.transport.reads().size() > 1));

    fixture.fetch(block(10, 0));

    assertThat(fixture.listener.successes().get(block(10, 0)))
        .isNotEqualTo(fixture.written(block(10, 0)));
    assertThat(fixture.spark.fetches()).isEmpty();
  }

  @Test
  void blocksThatFindNoBufferGoToSpark() {
    fixture.registered(10, 5000, 100);
    fixture.transport.poolBytes(4999);

    fixture.fetch(block(10, 0));
    fixture.fetch(block(10, 1));

    fixture.assertDelivered(block(10, 0), block(10, 1));
    assertFellBack(FallbackReason.BUFFERS, block(10, 0));
  }

  @Test
  void blocksThatAreNotReadByTheDeadlineGoToSpark() {
    fixture.registered(10, 100);
    fixture.locator.silence();
    fixture.fetch(block(10, 0));
    assertThat(fixture.listener.successes()).isEmpty();

    fixture.timer.advanceMs(9_999);
    assertThat(fixture.listener.successes()).isEmpty();
    fixture.timer.advanceMs(1);

    fixture.assertDelivered(block(10, 0));
    assertFellBack(FallbackReason.DEADLINE, block(10, 0));
  }

  @Test
  void readThatComesAfterTheDeadlineGivesItsBufferBack() {
    Queue<Runnable> reads = new ArrayDeque<>();
    fixture = new ReadFixture();
    fixture.registered(10, 100);
    fixture.transport.holdReads(reads::add);
    fixture.fetch(block(10, 0));
    reads.remove().run();
    assertThat(reads).as("the READ of the data").hasSize(1);

    fixture.timer.advanceMs(10_000);
    assertFellBack(FallbackReason.DEADLINE, block(10, 0));
    assertThat(fixture.transport.buffersOut()).isEqualTo(1);
    reads.remove().run();

    fixture.assertDelivered(block(10, 0));
    assertThat(fixture.count("read.blocks")).isZero();
  }

  @Test
  void blocksThatSparkCannotFetchEitherFail() {
    fixture.unregistered(10, 100, 100);
    fixture.spark.lose(block(10, 1));

    fixture.fetch(block(10, 0), block(10, 1));

    assertThat(fixture.listener.failures()).containsOnlyKeys(block(10, 1));
    assertThat(fixture.listener.failures().get(block(10, 1))).hasMessage("no block shuffle_3_10_1");
    assertThat(fixture.listener.successes()).containsOnlyKeys(block(10, 0));
  }

  @Test
  void blocksFailWhenSparksClientThrows() {
    fixture.unregistered(10, 100, 100, 100);
    IllegalStateException broken = new IllegalStateException("client is closed");
    fixture.spark.failWith(broken);

    fixture.fetch(block(10, 0), block(10, 1), block(10, 2));

    assertThat(fixture.listener.successes()).containsOnlyKeys(block(10, 0));
    assertThat(fixture.listener.failures())
        .containsOnlyKeys(block(10, 1), block(10, 2))
        .containsValue(broken);
  }

  @Test
  void listenerThatThrowsHoldsUpNoOtherBlock() {
    fixture.registered(10, 100, 100, 100);
    fixture.listener.throwOn(block(10, 1)::equals);

    fixture.fetch(block(10, 0), block(10, 1), block(10, 2));

    fixture.assertDelivered(block(10, 0), block(10, 1), block(10, 2));
  }

  @Test
  void bufferReturnsWithTheLastOfItsBlocks() {
    fixture.registered(10, 100, 100);
    fixture.listener.keep();
    fixture.fetch(block(10, 0), block(10, 1));
    assertThat(fixture.transport.buffersOut()).isEqualTo(1);

    ManagedBuffer first = fixture.listener.kept().removeFirst();
    first.release();
    assertThat(fixture.transport.buffersOut()).isEqualTo(1);
    fixture.listener.releaseKept();

    assertThat(fixture.transport.buffersOut()).isZero();
  }

  @Test
  void closingLeavesSparksClientOpen() {
    fixture.client.close();
    fixture.client.close();

    assertThat(fixture.spark.isClosed()).isFalse();
  }

  private void assertFellBack(FallbackReason reason, String... blockIds) {
    assertThat(fixture.spark.blockIdsFetched()).containsExactlyInAnyOrder(blockIds);
    assertThat(fixture.fallbacks(reason)).isEqualTo(blockIds.length);
    assertThat(fixture.spark.fetches())
        .allSatisfy(fetch -> assertThat(fetch.host() + fetch.port()).isEqualTo("host99"));
  }

  private static String[] ids(String... blockIds) {
    return blockIds;
  }

  private static void corrupt(FakeTransport.Read read, boolean now) {
    if (now) {
      byte first = read.target().get(ValueLayout.JAVA_BYTE, 0);
      read.target().set(ValueLayout.JAVA_BYTE, 0, (byte) ~first);
    }
  }

  /** Happens to blocks of a reader that its task reaches late. */
  @Test
  void blocksWithoutAReaderYetMakeRoomForOthers() {
    fixture.registered(1, 3000);
    fixture.registered(2, 3000);
    fixture.transport.poolBytes(5000);
    List<ManagedBuffer> held = new ArrayList<>();
    fixture.client.fetchBlocks("host", 99, "7", new String[] {block(1, 0)}, holding(held), null);
    fixture.client.fetchBlocks("host", 99, "7", new String[] {block(2, 0)}, holding(held), null);

    assertThat(held).hasSize(2);
    assertThat(fixture.spark.fetches()).isEmpty();
    assertThat(fixture.transport.buffersOut()).isEqualTo(1);
    assertThat(bytes(held.get(0))).isEqualTo(fixture.written(block(1, 0)));
    assertThat(bytes(held.get(1))).isEqualTo(fixture.written(block(2, 0)));
    held.forEach(ManagedBuffer::release);
    assertThat(fixture.transport.buffersOut()).isZero();
  }

  private static BlockFetchingListener holding(List<ManagedBuffer> held) {
    return new BlockFetchingListener() {
      @Override
      public void onBlockFetchSuccess(String blockId, ManagedBuffer data) {
        held.add(data.retain());
      }

      @Override
      public void onBlockFetchFailure(String blockId, Throwable failure) {
        throw new AssertionError(blockId, failure);
      }
    };
  }

  private static byte[] bytes(ManagedBuffer data) {
    try (InputStream in = data.createInputStream()) {
      return in.readAllBytes();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
