package dev.sluice.spark.read;

import dev.sluice.blocks.MapOutputLocation;
import dev.sluice.rdma.transfer.PeerAddress;
import dev.sluice.spark.locate.Locator.Located;
import dev.sluice.spark.metrics.FallbackReason;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

/**
 * Takes blocks of a {@link FetchCall} from location to partition table to READ. Blocks whose
 * location proves stale are located again, once, by an attempt of their own; every other failure
 * sends them to Spark's own transfer. Each step runs on the thread that finished the one before and
 * none blocks; between the steps there is no thread at all.
 */
final class ReadAttempt {
  private final ReadPath path;
  private final FetchCall call;
  private final List<RequestedBlock> blocks;
  private final boolean relocated;
  private final int shuffleId;
  private final Map<Long, MapOutputLocation> locations = new HashMap<>();
  private PeerAddress peer;

  /**
   * @param blocks of one shuffle
   * @param relocated whether this is the second attempt, after stale locations
   */
  ReadAttempt(ReadPath path, FetchCall call, List<RequestedBlock> blocks, boolean relocated) {
    this.path = path;
    this.call = call;
    this.blocks = blocks;
    this.relocated = relocated;
    this.shuffleId = blocks.getFirst().shuffleId();
  }

  void start() {
    long[] mapIds = blocks.stream().mapToLong(RequestedBlock::mapId).distinct().toArray();
    path.locator()
        .locate(shuffleId, call.target().executorId(), mapIds)
        .thenAccept(located -> call.guard(blocks, () -> located(mapIds, located)));
  }

  PeerAddress peer() {
    return peer;
  }

  int shuffleId() {
    return shuffleId;
  }

  /** Sends blocks that could not be READ on their way: to be located again, or to Spark. */
  void failed(List<RequestedBlock> failed, FallbackReason reason) {
    if (failed.isEmpty()) {
      return;
    }
    if (reason != FallbackReason.STALE_LOCATION || relocated) {
      call.fallBack(failed, reason);
      return;
    }
    List<MapOutputLocation> stale =
        failed.stream()
            .map(block -> locations.get(block.mapId()))
            .filter(Objects::nonNull)
            .distinct()
            .toList();
    path.forget(shuffleId, stale);
    call.guard(failed, () -> new ReadAttempt(path, call, failed, true).start());
  }

  private void located(long[] mapIds, Located located) {
    if (located.peer() == null) {
      call.fallBack(blocks, FallbackReason.PEER);
      return;
    }
    peer = located.peer();
    for (int i = 0; i < mapIds.length; i++) {
      if (located.outputs()[i] != null) {
        locations.put(mapIds[i], located.outputs()[i]);
      }
    }
    List<RequestedBlock> registered = new ArrayList<>();
    List<RequestedBlock> unregistered = new ArrayList<>();
    List<RequestedBlock> stale = new ArrayList<>();
    Set<PageKey> keys = new LinkedHashSet<>();
    for (RequestedBlock block : blocks) {
      MapOutputLocation location = locations.get(block.mapId());
      if (location == null) {
        unregistered.add(block);
      } else if (block.endPartition() > PageKey.partitions(location.table())) {
        stale.add(block);
      } else {
        registered.add(block);
        keys.addAll(pagesOf(block));
      }
    }
    call.fallBack(unregistered, FallbackReason.NOT_REGISTERED);
    failed(stale, FallbackReason.STALE_LOCATION);
    if (!registered.isEmpty()) {
      readTables(registered, keys);
    }
  }

  private List<PageKey> pagesOf(RequestedBlock block) {
    MapOutputLocation location = locations.get(block.mapId());
    List<PageKey> keys = new ArrayList<>();
    int last = (block.endPartition() - 1) / TablePage.PARTITIONS;
    for (int page = block.startPartition() / TablePage.PARTITIONS; page <= last; page++) {
      keys.add(PageKey.of(shuffleId, location, page));
    }
    return keys;
  }

  private void readTables(List<RequestedBlock> registered, Set<PageKey> keys) {
    long deadlineNanos = call.deadlineNanos();
    path.tables()
        .lookup(
            peer,
            keys,
            deadlineNanos,
            path.bufferDeadlineNanos(deadlineNanos),
            pages -> call.guard(registered, () -> readData(registered, pages)));
  }

  private void readData(List<RequestedBlock> registered, TablePages pages) {
    List<LocatedBlock> readable = new ArrayList<>();
    List<RequestedBlock> stale = new ArrayList<>();
    List<RequestedBlock> unreadable = new ArrayList<>();
    for (RequestedBlock block : registered) {
      PageKey missing =
          pagesOf(block).stream().filter(key -> pages.get(key) == null).findFirst().orElse(null);
      if (missing != null) {
        FallbackReason reason = pages.failure(missing);
        if (reason == FallbackReason.STALE_LOCATION) {
          stale.add(block);
        } else {
          call.fallBack(List.of(block), reason);
        }
        continue;
      }
      MapOutputLocation location = locations.get(block.mapId());
      LocatedBlock located = LocatedBlock.of(block, location, pages);
      if (located.end() > location.data().length()) {
        stale.add(block);
      } else if (isReadable(located)) {
        readable.add(located);
      } else {
        unreadable.add(block);
      }
    }
    failed(stale, FallbackReason.STALE_LOCATION);
    call.fallBack(unreadable, FallbackReason.BLOCK_KIND);
    if (readable.isEmpty()) {
      return;
    }
    if (call.files() != null) {
      SlicedRead.toDisk(path, call, this, readable).start();
    } else {
      readToMemory(readable);
    }
  }

  private void readToMemory(List<LocatedBlock> readable) {
    int maxBytes = path.transport().maxBufferBytes();
    List<LocatedBlock> small = readable.stream().filter(b -> b.length() <= maxBytes).toList();
    List<LocatedBlock> large = readable.stream().filter(b -> b.length() > maxBytes).toList();
    for (ReadGroup group : ReadGroup.plan(small, path.maxGroupBytes())) {
      new GroupRead(path, call, this, group, false).start();
    }
    if (!large.isEmpty()) {
      SlicedRead.toMemory(path, call, this, large).start();
    }
  }

  /**
   * An empty block is an error to Spark, which is then to be Spark's own; so are 2 GiB in memory.
   */
  private boolean isReadable(LocatedBlock located) {
    return located.length() > 0 && (call.files() != null || located.length() <= Integer.MAX_VALUE);
  }
}
