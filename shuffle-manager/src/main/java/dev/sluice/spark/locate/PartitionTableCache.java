package dev.sluice.spark.locate;

import dev.sluice.blocks.wire.MapOutputLocation;
import dev.sluice.rdma.RemoteRegion;
import dev.sluice.rdma.transfer.PeerAddress;
import dev.sluice.spark.transport.ReadTransport;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/**
 * Pages of other executors' partition tables, so that these are READ once per executor and not once
 * per reducer. Any thread; the lock is held for map operations only, never while another's code is
 * called. Lives as long as the executor's {@link BlockLocator}; holds heap only.
 *
 * <p>A page of 64 partitions costs 1,040 bytes on the wire and 1.2 KB of heap. A shuffle of 100,000
 * maps x 10,000 partitions has 16 million pages, 17 GB in all, of which an executor never sees more
 * than its reducers touch: one reducer one page a map, 100,000 pages, 104 MB READ in requests of 64
 * KiB, 124 MB of heap. Where the cache holds so much, the reducers of the same 64 partitions that
 * follow on this executor find them there; where it is smaller, the least recently used pages leave
 * and are READ again: a kilobyte of READ a block, and no more heap.
 */
final class PartitionTableCache {
  private final ReadTransport transport;
  private final Executor deliverer;
  private final long maxBytes;
  private final int maxReadBytes;

  // Guarded by this.
  private final Map<PageKey, TablePage> cached = new LinkedHashMap<>(16, 0.75f, true);
  private final Map<PageKey, TableRead> underWay = new HashMap<>();
  private long cachedBytes;

  /**
   * @param maxBytes heap of the cached pages at most; a lookup's own pages come on top while it
   *     lasts
   * @param maxReadBytes bytes that are READ with one request
   */
  PartitionTableCache(
      ReadTransport transport, Executor deliverer, long maxBytes, int maxReadBytes) {
    this.transport = transport;
    this.deliverer = deliverer;
    this.maxBytes = maxBytes;
    this.maxReadBytes = maxReadBytes;
  }

  /**
   * Finds the pages and READs the missing ones. Completes on this thread when nothing had to be
   * READ, else on a delivery thread; never exceptionally. Pages that another fetch is READing are
   * waited for.
   */
  CompletableFuture<TablePages> lookup(
      PeerAddress peer, Set<PageKey> keys, long deadlineNanos, long bufferDeadlineNanos) {
    TablePages pages = new TablePages();
    Set<TableRead> awaited = new LinkedHashSet<>();
    List<TableRead> started = new ArrayList<>();
    synchronized (this) {
      List<PageKey> missing = new ArrayList<>();
      for (PageKey key : keys) {
        TablePage page = cached.get(key);
        TableRead read = underWay.get(key);
        if (page != null) {
          pages.found(key, page);
        } else if (read != null) {
          awaited.add(read);
        } else {
          missing.add(key);
        }
      }
      for (List<PageKey> batch : batches(missing)) {
        TableRead read = new TableRead(transport, deliverer, peer, batch, deadlineNanos);
        batch.forEach(key -> underWay.put(key, read));
        started.add(read);
      }
    }
    awaited.addAll(started);
    for (TableRead read : started) {
      read.done().thenAccept(this::finished);
      read.start(bufferDeadlineNanos);
    }
    return CompletableFuture.allOf(
            awaited.stream().map(TableRead::done).toArray(CompletableFuture[]::new))
        .thenApply(
            _ -> {
              awaited.forEach(read -> take(read, keys, pages));
              return pages;
            });
  }

  /** The shuffle is unregistered. */
  synchronized void drop(int shuffleId) {
    removeIf(key -> key.shuffleId() == shuffleId);
  }

  /** A READ found the location stale: what was READ through it may be, too. */
  synchronized void drop(int shuffleId, Collection<MapOutputLocation> stale) {
    Set<Table> tables =
        stale.stream()
            .map(location -> new Table(location.mapId(), location.table()))
            .collect(Collectors.toSet());
    removeIf(
        key ->
            key.shuffleId() == shuffleId && tables.contains(new Table(key.mapId(), key.table())));
  }

  /** Of a registration of a map output. */
  private record Table(long mapId, RemoteRegion region) {}

  /** Heap of the cached pages. */
  synchronized long heapBytes() {
    return cachedBytes;
  }

  private List<List<PageKey>> batches(List<PageKey> keys) {
    List<List<PageKey>> batches = new ArrayList<>();
    int bytes = 0;
    for (PageKey key : keys) {
      if (batches.isEmpty() || bytes + key.bytes() > maxReadBytes) {
        batches.add(new ArrayList<>());
        bytes = 0;
      }
      batches.getLast().add(key);
      bytes += key.bytes();
    }
    return batches;
  }

  private static void take(TableRead read, Set<PageKey> keys, TablePages pages) {
    for (PageKey key : read.keys()) {
      if (keys.contains(key)) {
        TablePage page = read.pages().get(key);
        if (page != null) {
          pages.found(key, page);
        } else {
          pages.failed(key, read.failure());
        }
      }
    }
  }

  private synchronized void finished(TableRead read) {
    read.keys().forEach(underWay::remove);
    read.pages()
        .forEach(
            (key, page) -> {
              cached.put(key, page);
              cachedBytes += page.heapBytes();
            });
    Iterator<TablePage> eldest = cached.values().iterator();
    while (cachedBytes > maxBytes) {
      cachedBytes -= eldest.next().heapBytes();
      eldest.remove();
    }
  }

  private void removeIf(Predicate<PageKey> condition) {
    cached
        .entrySet()
        .removeIf(
            entry -> {
              boolean remove = condition.test(entry.getKey());
              if (remove) {
                cachedBytes -= entry.getValue().heapBytes();
              }
              return remove;
            });
  }
}
