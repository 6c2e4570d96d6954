// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.table;

import static java.util.Objects.requireNonNull;

import dev.sluice.rdma.RemoteRegion;
import dev.sluice.rdma.transfer.PeerAddress;
import dev.sluice.rdma.transfer.ReadBuffer;
import dev.sluice.rdma.transfer.ReadException;
import dev.sluice.rdma.transfer.ReadListener;
import dev.sluice.spark.transport.FallbackReason;
import dev.sluice.spark.transport.ReadTransport;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * READs parts of one peer's partition tables, all in one request and one buffer. {@link
 * TableReader} makes and starts it, on any thread. A delivery thread copies the longs to their
 * targets. It owns the buffer and releases it at its end, success or not.
 */
final class TableRead implements ReadListener {
  private static final Logger LOG = LoggerFactory.getLogger(TableRead.class);

  private static final ValueLayout.OfLong LONG =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  /**
   * Longs to READ, and their target.
   *
   * @param at index of the first long in the target
   */
  record Part(TableSlice slice, RemoteRegion region, long[] target, int at) {}

  private final ReadTransport transport;
  private final Executor deliverer;
  private final PeerAddress peer;
  private final List<Part> parts;
  private final long deadlineNanos;
  private final TableReads reads;
  private final CompletableFuture<Void> done = new CompletableFuture<>();

  /** Null before it was acquired. */
  private @Nullable ReadBuffer buffer;

  TableRead(
      ReadTransport transport,
      Executor deliverer,
      PeerAddress peer,
      List<Part> parts,
      long deadlineNanos,
      TableReads reads) {
    this.transport = transport;
    this.deliverer = deliverer;
    this.peer = peer;
    this.parts = parts;
    this.deadlineNanos = deadlineNanos;
    this.reads = reads;
  }

  /** Completes on a delivery thread, never exceptionally: the parts' slices record failures. */
  CompletableFuture<Void> start(long bufferDeadlineNanos) {
    int bytes = parts.stream().mapToInt(part -> (int) part.region().length()).sum();
    try {
      transport.acquire(bytes, bufferDeadlineNanos, this::acquired);
    } catch (RuntimeException | Error e) {
      LOG.error("Asking for a buffer of {} bytes failed unexpectedly", bytes, e);
      fail(FallbackReason.BUFFERS);
    }
    return done;
  }

  private void acquired(@Nullable ReadBuffer acquired) {
    if (acquired == null) {
      fail(FallbackReason.BUFFERS);
      return;
    }
    buffer = acquired;
    reads.tableReadBegins();
    try {
      List<RemoteRegion> regions = parts.stream().map(Part::region).toList();
      transport.read(peer, regions, acquired, 0, deadlineNanos, this);
    } catch (RuntimeException | Error e) {
      LOG.error("The READ of partition tables of {} failed unexpectedly", peer, e);
      reads.tableReadEnded();
      acquired.release();
      fail(FallbackReason.TRANSPORT);
    }
  }

  @Override
  public void onSuccess() {
    reads.tableReadEnded();
    deliverer.execute(this::take);
  }

  @Override
  public void onFailure(ReadException e) {
    reads.tableReadEnded();
    requireNonNull(buffer).release();
    fail(FallbackReason.of(e));
  }

  private void take() {
    ReadBuffer filled = requireNonNull(buffer);
    try {
      MemorySegment bytes = filled.segment();
      long position = 0;
      for (Part part : parts) {
        int count = (int) (part.region().length() / Long.BYTES);
        MemorySegment.copy(bytes, LONG, position, part.target(), part.at(), count);
        position += part.region().length();
      }
    } finally {
      filled.release();
      done.complete(null);
    }
  }

  private void fail(FallbackReason reason) {
    parts.forEach(part -> part.slice().failed(reason));
    deliverer.execute(() -> done.complete(null));
  }
}
