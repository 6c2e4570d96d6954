package dev.sluice.spark.table;

import dev.sluice.blocks.wire.ControlMessages;
import dev.sluice.blocks.wire.MapOutputHeader;
import dev.sluice.blocks.wire.MapOutputLocation;
import dev.sluice.blocks.wire.TableSegment;
import dev.sluice.rdma.RemoteRegion;
import dev.sluice.rdma.transfer.PeerAddress;
import dev.sluice.spark.table.TableRead.Part;
import dev.sluice.spark.transport.ReadTransport;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.LongSupplier;
import java.util.function.ToLongFunction;
import java.util.stream.Stream;

/**
 * READs other executors' partition tables, and asks for those that are not registered ({@link
 * StagedTables}): the entries of a reducer's partitions each time, for nobody else wants them, and
 * the headers of map outputs once an executor. Any thread; the lock is held for map operations
 * only. Lives as long as the executor's {@link BlockLocator}; holds heap only.
 *
 * <p>A shuffle of 100,000 maps has 3.2 MB of headers. Where there are more than may be kept, the
 * least recently used leave and are READ again, with the entries: 32 bytes more a block.
 */
final class TableReader {
  /** Heap of a segment's headers beside their longs. */
  private static final int OVERHEAD_BYTES = 200;

  private record Key(int shuffleId, TableSegment segment) {}

  private final ReadTransport transport;
  private final Executor deliverer;
  private final long maxCachedBytes;
  private final int maxReadBytes;
  private final LongSupplier nanoClock;

  /** Headers of segments, which are not changed. Guarded by this, as all that follows. */
  private final Map<Key, long[]> cached = new LinkedHashMap<>(16, 0.75f, true);

  private long cachedBytes;

  /**
   * @param deliverer takes what was READ out of its buffer
   * @param maxCachedBytes heap of cached headers at most
   * @param maxReadBytes bytes that are READ with one request
   * @param nanoClock which deadlines are given in
   */
  TableReader(
      ReadTransport transport,
      Executor deliverer,
      long maxCachedBytes,
      int maxReadBytes,
      LongSupplier nanoClock) {
    this.transport = transport;
    this.deliverer = deliverer;
    this.maxCachedBytes = maxCachedBytes;
    this.maxReadBytes = maxReadBytes;
    this.nanoClock = nanoClock;
  }

  /** Fills the pieces. Completes on a delivery thread, never exceptionally. */
  CompletableFuture<Void> read(
      PeerAddress peer,
      int shuffleId,
      Collection<TablePiece> pieces,
      long deadlineNanos,
      long bufferDeadlineNanos) {
    List<Part> parts = new ArrayList<>();
    List<TablePiece> staged = new ArrayList<>();
    for (TablePiece piece : pieces) {
      if (piece.segment().isRegistered()) {
        addHeaders(shuffleId, piece, parts);
        piece.rows().forEach(rows -> addEntries(piece, rows, parts));
      } else {
        staged.add(piece);
      }
    }
    if (parts.isEmpty() && staged.isEmpty()) {
      return CompletableFuture.completedFuture(null);
    }
    Stream<CompletableFuture<Void>> reads =
        batches(parts, part -> part.region().length(), maxReadBytes).stream()
            .map(batch -> new TableRead(transport, deliverer, peer, batch, deadlineNanos))
            .map(read -> read.start(bufferDeadlineNanos));
    Stream<CompletableFuture<Void>> questions =
        new StagedTables(transport, deliverer, nanoClock, peer, shuffleId)
            .ask(staged, deadlineNanos);
    return CompletableFuture.allOf(
            Stream.concat(reads, questions).toArray(CompletableFuture[]::new))
        .thenRun(
            () -> {
              pieces.stream()
                  .filter(piece -> piece.failure() == null && piece.segment().isRegistered())
                  .forEach(piece -> keep(new Key(shuffleId, piece.segment()), piece.headers()));
              transport.touch(peer, shuffleId);
            });
  }

  private void addHeaders(int shuffleId, TablePiece piece, List<Part> parts) {
    TableSegment segment = piece.segment();
    long[] known = known(new Key(shuffleId, segment));
    if (known != null && hasAll(known, piece.slots())) {
      piece.headers(known);
      return;
    }
    int longs = segment.slots() * MapOutputHeader.LONGS;
    long[] headers = known == null ? new long[longs] : known.clone();
    piece.headers(headers);
    RemoteRegion region = segment.headers(piece.firstSlot(), piece.lastSlot() + 1);
    parts.add(new Part(piece, region, headers, piece.firstSlot() * MapOutputHeader.LONGS));
  }

  private static boolean hasAll(long[] headers, long slots) {
    for (long left = slots; left != 0; left &= left - 1) {
      int slot = Long.numberOfTrailingZeros(left);
      if (!MapOutputHeader.isPresent(headers, slot * MapOutputHeader.LONGS)) {
        return false;
      }
    }
    return true;
  }

  private void addEntries(TablePiece piece, TablePiece.Rows rows, List<Part> parts) {
    List<RemoteRegion> regions = rows.regions();
    long bytes = regions.stream().mapToLong(RemoteRegion::length).sum();
    long[] entries = new long[Math.toIntExact(bytes / Long.BYTES)];
    rows.entries(entries);
    int at = 0;
    for (RemoteRegion region : regions) {
      for (RemoteRegion part : fitting(region)) {
        parts.add(new Part(piece, part, entries, at));
        at += (int) (part.length() / Long.BYTES);
      }
    }
  }

  /** In parts of which each fits a request. */
  private List<RemoteRegion> fitting(RemoteRegion region) {
    List<RemoteRegion> parts = new ArrayList<>();
    int step = maxReadBytes - maxReadBytes % Long.BYTES;
    for (long from = 0; from < region.length(); from += step) {
      long length = Math.min(step, region.length() - from);
      parts.add(new RemoteRegion(region.address() + from, length, region.rkey()));
    }
    return parts;
  }

  /** In batches of so much at most, and of no more parts than a request may have. */
  static <T> List<List<T>> batches(List<T> parts, ToLongFunction<T> size, long max) {
    List<List<T>> batches = new ArrayList<>();
    long sum = 0;
    for (T part : parts) {
      sum += size.applyAsLong(part);
      if (batches.isEmpty()
          || sum > max
          || batches.getLast().size() == ControlMessages.MAX_PIECES) {
        batches.add(new ArrayList<>());
        sum = size.applyAsLong(part);
      }
      batches.getLast().add(part);
    }
    return batches;
  }

  private synchronized long[] known(Key key) {
    return cached.get(key);
  }

  private synchronized void keep(Key key, long[] headers) {
    long[] before = cached.put(key, headers);
    cachedBytes += before == null ? heapBytes(headers) : 0;
    Iterator<long[]> eldest = cached.values().iterator();
    while (cachedBytes > maxCachedBytes) {
      cachedBytes -= heapBytes(eldest.next());
      eldest.remove();
    }
  }

  private static long heapBytes(long[] headers) {
    return (long) headers.length * Long.BYTES + OVERHEAD_BYTES;
  }

  /** The shuffle is unregistered. */
  synchronized void drop(int shuffleId) {
    Iterator<Map.Entry<Key, long[]>> entries = cached.entrySet().iterator();
    while (entries.hasNext()) {
      Map.Entry<Key, long[]> entry = entries.next();
      if (entry.getKey().shuffleId() == shuffleId) {
        cachedBytes -= heapBytes(entry.getValue());
        entries.remove();
      }
    }
  }

  /** A READ found the location stale: what was READ through it may be, too. */
  synchronized void drop(int shuffleId, MapOutputLocation stale) {
    long[] headers = cached.remove(new Key(shuffleId, stale.segment()));
    cachedBytes -= headers == null ? 0 : heapBytes(headers);
  }

  /** Heap of the cached headers. */
  synchronized long heapBytes() {
    return cachedBytes;
  }
}
