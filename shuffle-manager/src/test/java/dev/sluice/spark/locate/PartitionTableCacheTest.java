package dev.sluice.spark.locate;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.blocks.wire.MapOutputLocation;
import dev.sluice.rdma.transfer.PeerAddress;
import dev.sluice.rdma.transfer.ReadException.Cause;
import dev.sluice.spark.transport.FakeTransport;
import dev.sluice.spark.transport.FallbackReason;
import dev.sluice.spark.transport.MapOutput;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class PartitionTableCacheTest {
  private static final int SHUFFLE = 3;
  private static final PeerAddress PEER = new PeerAddress("7", "peer", 1234);

  private final Queue<Runnable> steps = new ArrayDeque<>();
  private final FakeTransport transport = new FakeTransport(steps::add);
  private PartitionTableCache cache = cache(1 << 20);

  @AfterEach
  void buffersAreGivenBack() {
    assertThat(transport.buffersOut()).isZero();
  }

  @Test
  void pagesAreReadOnceForManyReducers() {
    List<MapOutputLocation> maps = maps(100, 2 * TablePage.PARTITIONS);

    for (int reducer = 0; reducer < TablePage.PARTITIONS; reducer++) {
      lookup(maps, 0);
    }

    assertThat(transport.reads())
        .hasSize(1)
        .first()
        .satisfies(
            read -> {
              assertThat(read.ranges()).hasSize(100);
            });
  }

  @Test
  void concurrentReducersShareARead() {
    List<MapOutputLocation> maps = maps(2, 10);
    CompletableFuture<TablePages> first = cache.lookup(PEER, keys(maps, 0), 10, 10);
    CompletableFuture<TablePages> second = cache.lookup(PEER, keys(maps.subList(1, 2), 0), 10, 10);
    assertThat(first).isNotDone();
    assertThat(second).isNotDone();

    runSteps();

    assertThat(transport.reads()).hasSize(1);
    assertThat(first).isCompleted();
    assertThat(second.join().get(key(maps.get(1), 0))).isNotNull();
  }

  @Test
  void readsFitTheirBuffers() {
    transport.maxBufferBytes(2500);
    cache = cache(1 << 20);

    TablePages pages = lookup(maps(7, TablePage.PARTITIONS), 0);

    assertThat(transport.reads()).as("two pages of 1040 bytes fit").hasSize(4);
    assertThat(pages).isNotNull();
  }

  @Test
  void leastRecentlyUsedPagesLeaveWhenItIsFull() {
    List<MapOutputLocation> maps = maps(4, TablePage.PARTITIONS);
    cache = cache(3 * 1300);
    lookup(maps.subList(0, 1), 0);
    lookup(maps.subList(1, 2), 0);
    lookup(maps.subList(2, 3), 0);
    lookup(maps.subList(0, 1), 0);
    lookup(maps.subList(3, 4), 0);
    assertThat(transport.reads()).hasSize(4);
    assertThat(cache.heapBytes()).isBetween(3 * 1024L, 3 * 1300L);

    lookup(maps.subList(0, 1), 0);
    assertThat(transport.reads()).hasSize(4);
    lookup(maps.subList(1, 2), 0);
    assertThat(transport.reads()).hasSize(5);
  }

  @Test
  void cacheThatHoldsNothingStillAnswers() {
    cache = cache(0);
    List<MapOutputLocation> maps = maps(1, 10);

    assertThat(lookup(maps, 0).get(key(maps.get(0), 0))).isNotNull();
    assertThat(cache.heapBytes()).isZero();
  }

  @Test
  void failedReadIsNotKept() {
    List<MapOutputLocation> maps = maps(1, 10);
    transport.script((number, _) -> number == 0 ? Cause.CONNECT : null);

    TablePages failed = lookup(maps, 0);
    assertThat(failed.get(key(maps.get(0), 0))).isNull();
    assertThat(failed.failure(key(maps.get(0), 0))).isEqualTo(FallbackReason.CONNECT);
    assertThat(lookup(maps, 0).get(key(maps.get(0), 0))).isNotNull();
  }

  @Test
  void noBufferIsAFailure() {
    transport.poolBytes(0);
    List<MapOutputLocation> maps = maps(1, 10);

    assertThat(lookup(maps, 0).failure(key(maps.get(0), 0))).isEqualTo(FallbackReason.BUFFERS);
  }

  /** Whoever asks for the same pages later would wait for its end. */
  @Test
  void aReadThatCannotBeAskedForHasItsAnswer() {
    List<MapOutputLocation> maps = maps(1, 10);
    transport.script(
        (_, _) -> {
          throw new OutOfMemoryError("scripted");
        });
    assertThat(lookup(maps, 0).failure(key(maps.get(0), 0))).isEqualTo(FallbackReason.TRANSPORT);
    assertThat(transport.buffersOut()).isZero();

    transport.script(FakeTransport.Script.SUCCEED);
    assertThat(lookup(maps, 0).get(key(maps.get(0), 0))).isNotNull();
  }

  @Test
  void newRegistrationIsReadAnew() {
    MapOutput output = new MapOutput(1, 10, 20);
    lookup(List.of(output.register(transport, 1 << 20)), 0);
    lookup(List.of(output.register(transport, 2 << 20)), 0);

    assertThat(transport.reads()).hasSize(2);
  }

  @Test
  void unregisteredShuffleIsForgotten() {
    List<MapOutputLocation> maps = maps(5, 10);
    lookup(maps, 0);
    cache.drop(SHUFFLE + 1);
    assertThat(cache.heapBytes()).isPositive();

    cache.drop(SHUFFLE);

    assertThat(cache.heapBytes()).isZero();
    lookup(maps, 0);
    assertThat(transport.reads()).hasSize(2);
  }

  @Test
  void staleLocationIsForgottenAlone() {
    List<MapOutputLocation> maps = maps(2, 10);
    lookup(maps, 0);

    cache.drop(SHUFFLE, maps.subList(0, 1));
    lookup(maps, 0);

    assertThat(transport.reads())
        .hasSize(2)
        .last()
        .satisfies(
            read -> {
              assertThat(read.ranges()).hasSize(1);
            });
  }

  private PartitionTableCache cache(long maxBytes) {
    return new PartitionTableCache(transport, steps::add, maxBytes, transport.maxBufferBytes());
  }

  private List<MapOutputLocation> maps(int count, int partitions) {
    List<MapOutputLocation> maps = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      maps.add(new MapOutput(i, new int[partitions]).register(transport, (i + 1L) << 20));
    }
    return maps;
  }

  private TablePages lookup(List<MapOutputLocation> maps, int page) {
    CompletableFuture<TablePages> answer = cache.lookup(PEER, keys(maps, page), 10, 10);
    runSteps();
    assertThat(answer).isCompleted();
    return answer.join();
  }

  private void runSteps() {
    while (!steps.isEmpty()) {
      steps.remove().run();
    }
  }

  private static Set<PageKey> keys(List<MapOutputLocation> maps, int page) {
    Set<PageKey> keys = new LinkedHashSet<>();
    maps.forEach(map -> keys.add(key(map, page)));
    return keys;
  }

  private static PageKey key(MapOutputLocation map, int page) {
    return PageKey.of(SHUFFLE, map, page);
  }
}
