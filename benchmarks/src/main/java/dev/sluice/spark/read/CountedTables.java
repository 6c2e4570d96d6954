package dev.sluice.spark.read;

import dev.sluice.blocks.wire.MapOutputLocation;
import dev.sluice.blocks.wire.PartitionTable;
import dev.sluice.rdma.RemoteRegion;
import dev.sluice.rdma.transfer.PeerAddress;
import dev.sluice.rdma.transfer.ReadListener;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;

/**
 * An executor's cache of partition tables, asked as fetches ask it, over a network that costs
 * nothing: counts what is READ. In this package because the cache is. One thread; holds heap only.
 */
public final class CountedTables {
  private static final int MAX_READ_BYTES = 1 << 20;
  private static final long DEADLINE_NANOS = Long.MAX_VALUE;

  private final int shuffleId;
  private final PartitionTableCache cache;
  private long requests;
  private long workRequests;
  private long bytes;

  /**
   * @param cacheBytes spark.shuffle.rdma.offsets.cacheBytes
   */
  public CountedTables(int shuffleId, long cacheBytes) {
    this.shuffleId = shuffleId;
    cache = new PartitionTableCache(new Network(), Runnable::run, cacheBytes, MAX_READ_BYTES);
  }

  /** Finds where a partition of each of a peer's map outputs is. */
  public void find(PeerAddress peer, List<MapOutputLocation> outputs, int partition) {
    Set<PageKey> keys = new LinkedHashSet<>();
    for (MapOutputLocation output : outputs) {
      keys.add(PageKey.of(shuffleId, output, partition / TablePage.PARTITIONS));
    }
    requireAll(keys, cache.lookup(peer, keys, DEADLINE_NANOS, DEADLINE_NANOS).join());
  }

  private static void requireAll(Set<PageKey> keys, TablePages pages) {
    for (PageKey key : keys) {
      if (pages.get(key) == null) {
        throw new IllegalStateException(key + " was not READ: " + pages.failure(key));
      }
    }
  }

  /** Requests to the transfer engine: a buffer and a deadline each. */
  public long requests() {
    return requests;
  }

  /** READs on the wire. */
  public long workRequests() {
    return workRequests;
  }

  /** Bytes that were READ. */
  public long bytes() {
    return bytes;
  }

  /** Heap of the cached pages, as the cache itself reckons. */
  public long accountedHeapBytes() {
    return cache.heapBytes();
  }

  /** Every table begins at a multiple of 16 MiB, and its partitions have 1,000 bytes each. */
  private final class Network implements ReadTransport {
    private static final long TABLE_SPAN_BYTES = 16 << 20;
    private static final long PARTITION_BYTES = 1000;
    private static final ValueLayout.OfLong LONG =
        ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    @Override
    public int maxBufferBytes() {
      return MAX_READ_BYTES;
    }

    @Override
    public void acquire(int wanted, long deadlineNanos, Consumer<Buffer> taker) {
      taker.accept(new HeapBuffer(MemorySegment.ofArray(new byte[wanted])));
    }

    @Override
    public boolean isShort() {
      return false;
    }

    @Override
    public void onShortage(Runnable listener) {}

    @Override
    public void read(
        PeerAddress peer,
        List<RemoteRegion> ranges,
        Buffer target,
        long deadlineNanos,
        ReadListener listener) {
      requests++;
      workRequests += ranges.size();
      long position = 0;
      for (RemoteRegion range : ranges) {
        fill(target.segment().asSlice(position, range.length()), range);
        position += range.length();
      }
      bytes += position;
      listener.onSuccess();
    }

    private static void fill(MemorySegment target, RemoteRegion range) {
      long first = range.address() % TABLE_SPAN_BYTES / PartitionTable.ENTRY_BYTES;
      for (long i = 0; i < range.length() / PartitionTable.ENTRY_BYTES; i++) {
        target.set(LONG, i * PartitionTable.ENTRY_BYTES, (first + i) * PARTITION_BYTES);
      }
    }

    @Override
    public void touch(PeerAddress peer, int shuffle) {}
  }

  /** What the garbage collector frees. */
  private record HeapBuffer(MemorySegment segment) implements ReadTransport.Buffer {
    @Override
    public void retain() {}

    @Override
    public void release() {}
  }
}
