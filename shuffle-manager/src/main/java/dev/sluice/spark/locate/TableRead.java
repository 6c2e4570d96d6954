package dev.sluice.spark.locate;

import dev.sluice.rdma.RemoteRegion;
import dev.sluice.rdma.transfer.PeerAddress;
import dev.sluice.rdma.transfer.ReadException;
import dev.sluice.rdma.transfer.ReadListener;
import dev.sluice.spark.transport.FallbackReason;
import dev.sluice.spark.transport.ReadTransport;
import java.lang.foreign.MemorySegment;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * READs pages of partition tables of one peer, all in one request and one buffer. {@link
 * PartitionTableCache} starts it, and every fetch that needs one of the pages waits for it.
 */
final class TableRead implements ReadListener {
  private static final Logger LOG = LoggerFactory.getLogger(TableRead.class);

  private final ReadTransport transport;
  private final Executor deliverer;
  private final PeerAddress peer;
  private final List<PageKey> keys;
  private final long deadlineNanos;
  private final Map<PageKey, TablePage> pages = new HashMap<>();
  private final CompletableFuture<TableRead> done = new CompletableFuture<>();
  private ReadTransport.Buffer buffer;
  private FallbackReason failure = FallbackReason.STALE_LOCATION;

  TableRead(
      ReadTransport transport,
      Executor deliverer,
      PeerAddress peer,
      List<PageKey> keys,
      long deadlineNanos) {
    this.transport = transport;
    this.deliverer = deliverer;
    this.peer = peer;
    this.keys = keys;
    this.deadlineNanos = deadlineNanos;
  }

  List<PageKey> keys() {
    return keys;
  }

  /** Completes when the pages were READ or not; never exceptionally. */
  CompletableFuture<TableRead> done() {
    return done;
  }

  /** Once done: what was READ. Less than asked for when the READ failed. */
  Map<PageKey, TablePage> pages() {
    return pages;
  }

  /** Once done: why a page is not among {@link #pages}. */
  FallbackReason failure() {
    return failure;
  }

  void start(long bufferDeadlineNanos) {
    int bytes = keys.stream().mapToInt(PageKey::bytes).sum();
    try {
      transport.acquire(bytes, bufferDeadlineNanos, this::acquired);
    } catch (RuntimeException | Error e) {
      LOG.error("No buffer can be asked for, of {} bytes", bytes, e);
      fail(FallbackReason.BUFFERS);
    }
  }

  private void acquired(ReadTransport.Buffer acquired) {
    if (acquired == null) {
      fail(FallbackReason.BUFFERS);
      return;
    }
    buffer = acquired;
    try {
      List<RemoteRegion> ranges = keys.stream().map(PageKey::range).toList();
      transport.read(peer, ranges, buffer, deadlineNanos, this);
    } catch (RuntimeException | Error e) {
      LOG.error("Partition tables of {} cannot be READ", peer, e);
      buffer.release();
      fail(FallbackReason.TRANSPORT);
    }
  }

  @Override
  public void onSuccess() {
    deliverer.execute(this::parse);
  }

  @Override
  public void onFailure(ReadException e) {
    buffer.release();
    fail(FallbackReason.of(e));
  }

  /** Bytes that are no table were READ from memory that has been put to another use: stale. */
  private void parse() {
    try {
      MemorySegment entries = buffer.segment();
      long position = 0;
      for (PageKey key : keys) {
        TablePage page = TablePage.parse(entries.asSlice(position, key.bytes()), key.partitions());
        if (page != null) {
          pages.put(key, page);
        }
        position += key.bytes();
      }
    } finally {
      buffer.release();
      done.complete(this);
    }
    transport.touch(peer, keys.getFirst().shuffleId());
  }

  private void fail(FallbackReason reason) {
    failure = reason;
    deliverer.execute(() -> done.complete(this));
  }
}
