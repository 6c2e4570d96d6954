// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.table;

import dev.sluice.blocks.wire.MapOutputHeader;
import dev.sluice.blocks.wire.MapOutputLocation;
import dev.sluice.blocks.wire.TableSegment;
import dev.sluice.rdma.RemoteRegion;
import dev.sluice.rdma.transfer.PeerAddress;
import dev.sluice.spark.table.TableRead.Part;
import dev.sluice.spark.transport.ReadTransport;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * READs registered partition tables of other executors. It READs the entries of a reducer's
 * partitions each time, because no other task needs them, and headers of map outputs once per
 * executor. If a segment has few partitions, it READs all of it once per executor. {@link
 * BlockLocator} has one and calls it on any thread; the lock is held for map operations only. It
 * holds heap only, so there is nothing to close. Arrays in the cache are shared by tasks, so they
 * never change: new headers go to a copy.
 *
 * <p>A shuffle of 100,000 maps has 3.2 MB of headers. Beyond the limit of the cache, the least
 * recently used tables are dropped and READ again: 32 bytes more a block, or 528 where all of a
 * segment is READ.
 */
final class TableReader {
  /** Estimated heap of a cached segment in addition to its longs: map entry, key and segment. */
  private static final int OVERHEAD_BYTES = 200;

  /** Limit of parts in one READ request. */
  private static final int MAX_PARTS = 4096;

  private record Key(int shuffleId, TableSegment segment) {}

  /**
   * Longs that were READ of a segment, unchanged since: its headers, or all of it.
   *
   * @param slots slots that were written before the READ, with map outputs present
   */
  private record Known(long[] longs, long slots) {
    static final Known NOTHING = new Known(new long[0], 0);

    boolean has(TableSlice slice) {
      return (slice.slots() & ~slots) == 0;
    }

    /** Adds the slots that were READ now. Other slots may have a header and no entries yet. */
    Known with(TableSlice slice) {
      long present = 0;
      for (long left = slots | slice.slots(); left != 0; left &= left - 1) {
        int slot = Long.numberOfTrailingZeros(left);
        if (MapOutputHeader.isPresent(slice.headers(), slot * MapOutputHeader.LONGS)) {
          present |= 1L << slot;
        }
      }
      return new Known(slice.headers(), present);
    }
  }

  private final ReadTransport transport;
  private final Executor deliverer;
  private final long maxCachedBytes;
  private final int maxReadBytes;

  /** Guarded by this, like all fields below. */
  private final Map<Key, Known> cached = new LinkedHashMap<>(16, 0.75f, true);

  private long cachedBytes;

  /** Bytes of the segments that are being READ whole. */
  private long wholeBytes;

  /**
   * @param deliverer copies data out of the READ buffers
   * @param maxCachedBytes limit of the heap that is cached
   * @param maxReadBytes maximum bytes in one READ request
   */
  TableReader(ReadTransport transport, Executor deliverer, long maxCachedBytes, int maxReadBytes) {
    this.transport = transport;
    this.deliverer = deliverer;
    this.maxCachedBytes = maxCachedBytes;
    this.maxReadBytes = maxReadBytes;
  }

  /** Fills the slices. Completes on a delivery thread, or at once; never exceptionally. */
  CompletableFuture<Void> read(
      PeerAddress peer,
      int shuffleId,
      Collection<TableSlice> slices,
      long deadlineNanos,
      long bufferDeadlineNanos,
      TableReads reads) {
    if (slices.isEmpty()) {
      return CompletableFuture.completedFuture(null);
    }
    List<Part> parts = new ArrayList<>();
    Map<TableSlice, Known> toKeep = new HashMap<>();
    for (TableSlice slice : slices) {
      add(shuffleId, slice, parts, toKeep);
    }
    List<CompletableFuture<Void>> answers = new ArrayList<>();
    for (List<Part> batch : batches(parts)) {
      TableRead read = new TableRead(transport, deliverer, peer, batch, deadlineNanos, reads);
      answers.add(read.start(bufferDeadlineNanos));
    }
    return CompletableFuture.allOf(answers.toArray(CompletableFuture[]::new))
        .thenRun(
            () -> {
              toKeep.forEach((slice, before) -> keep(shuffleId, slice, before));
              transport.touch(peer, shuffleId);
            });
  }

  private void add(
      int shuffleId, TableSlice slice, List<Part> parts, Map<TableSlice, Known> toKeep) {
    Known known = known(new Key(shuffleId, slice.segment()));
    if (known.has(slice)) {
      slice.headers(known.longs());
    } else {
      toKeep.put(slice, known);
      addUnknown(slice, known, parts);
    }
    if (!slice.isWhole()) {
      slice.rows().forEach(rows -> addEntries(slice, rows, parts));
    }
  }

  /** Adds all of the segment, or the headers that are wanted. */
  private void addUnknown(TableSlice slice, Known known, List<Part> parts) {
    TableSegment segment = slice.segment();
    if (slice.hasFewPartitions() && beginWhole(segment)) {
      slice.headers(new long[slice.segmentLongs()]);
      addParts(slice, List.of(segment.region()), slice.headers(), parts);
      return;
    }
    int longs = segment.slots() * MapOutputHeader.LONGS;
    slice.headers(Arrays.copyOf(known.longs(), longs));
    RemoteRegion region = segment.headers(slice.firstSlot(), slice.lastSlot() + 1);
    int at = slice.firstSlot() * MapOutputHeader.LONGS;
    parts.add(new Part(slice, region, slice.headers(), at));
  }

  private void addEntries(TableSlice slice, TableSlice.Rows rows, List<Part> parts) {
    List<RemoteRegion> regions = rows.regions();
    long bytes = regions.stream().mapToLong(RemoteRegion::length).sum();
    long[] entries = new long[Math.toIntExact(bytes / Long.BYTES)];
    rows.entries(entries);
    addParts(slice, regions, entries, parts);
  }

  /** Adds READs that fill the target from the regions. */
  private void addParts(
      TableSlice slice, List<RemoteRegion> regions, long[] target, List<Part> parts) {
    int at = 0;
    for (RemoteRegion region : regions) {
      for (RemoteRegion part : fitting(region)) {
        parts.add(new Part(slice, part, target, at));
        at += (int) (part.length() / Long.BYTES);
      }
    }
  }

  /** Divides a region into parts that fit a request. */
  private List<RemoteRegion> fitting(RemoteRegion region) {
    List<RemoteRegion> parts = new ArrayList<>();
    int step = maxReadBytes - maxReadBytes % Long.BYTES;
    for (long from = 0; from < region.length(); from += step) {
      long length = Math.min(step, region.length() - from);
      parts.add(new RemoteRegion(region.address() + from, length, region.rkey()));
    }
    return parts;
  }

  /** Groups parts into requests of limited size. */
  private List<List<Part>> batches(List<Part> parts) {
    List<List<Part>> batches = new ArrayList<>();
    long sum = 0;
    for (Part part : parts) {
      sum += part.region().length();
      if (batches.isEmpty() || sum > maxReadBytes || batches.getLast().size() == MAX_PARTS) {
        batches.add(new ArrayList<>());
        sum = part.region().length();
      }
      batches.getLast().add(part);
    }
    return batches;
  }

  /** Reserves a whole segment, within a limit: many would exceed the cache and fill the heap. */
  private synchronized boolean beginWhole(TableSegment segment) {
    long bytes = segment.region().length();
    boolean fits = wholeBytes + bytes <= maxCachedBytes / 2;
    wholeBytes += fits ? bytes : 0;
    return fits;
  }

  private synchronized Known known(Key key) {
    return cached.getOrDefault(key, Known.NOTHING);
  }

  private synchronized void keep(int shuffleId, TableSlice slice, Known before) {
    wholeBytes -= slice.isWhole() ? slice.segment().region().length() : 0;
    if (slice.failure() != null) {
      return;
    }
    Known now = before.with(slice);
    Known replaced = cached.put(new Key(shuffleId, slice.segment()), now);
    cachedBytes += heapBytes(now) - heapBytes(replaced);
    Iterator<Known> eldest = cached.values().iterator();
    while (cachedBytes > maxCachedBytes) {
      cachedBytes -= heapBytes(eldest.next());
      eldest.remove();
    }
  }

  /**
   * @param known null for none
   */
  private static long heapBytes(@Nullable Known known) {
    return known == null ? 0 : (long) known.longs().length * Long.BYTES + OVERHEAD_BYTES;
  }

  /** Forgets a shuffle that is unregistered. */
  synchronized void drop(int shuffleId) {
    Iterator<Map.Entry<Key, Known>> entries = cached.entrySet().iterator();
    while (entries.hasNext()) {
      Map.Entry<Key, Known> entry = entries.next();
      if (entry.getKey().shuffleId() == shuffleId) {
        cachedBytes -= heapBytes(entry.getValue());
        entries.remove();
      }
    }
  }

  /** Forgets data that was READ through a stale location, which may be stale as well. */
  synchronized void drop(int shuffleId, MapOutputLocation stale) {
    cachedBytes -= heapBytes(cached.remove(new Key(shuffleId, stale.segment())));
  }

  /** Returns the heap of cached data. */
  synchronized long heapBytes() {
    return cachedBytes;
  }
}
