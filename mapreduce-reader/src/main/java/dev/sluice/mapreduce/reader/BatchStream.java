// SPDX-License-Identifier: Apache-2.0
package dev.sluice.mapreduce.reader;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import dev.sluice.blocks.client.BlockServerClient;
import dev.sluice.mapreduce.HttpReason;
import dev.sluice.mapreduce.NodeReadException;
import dev.sluice.mapreduce.reader.BatchPlan.Piece;
import dev.sluice.rdma.transfer.PooledBuffer;
import dev.sluice.rdma.transfer.RdmaEndpoint;
import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Bytes of partitions at one node, back to back. READs {@link #AHEAD} pieces ahead of its reader.
 * {@link JobReader} makes it for a fetcher, which reads and closes it on its thread. Holds a pooled
 * buffer for each piece, until that was read or the stream is closed.
 */
final class BatchStream extends InputStream {
  /** Pieces that are READ at a time: while one is copied, the next one is on its way. */
  private static final int AHEAD = 2;

  private final long timeoutMs;
  private final Function<Piece, CompletableFuture<PooledBuffer>> reads;
  private final BatchPlan plan;

  /** A piece that is being READ. */
  private record UnderWay(Piece piece, CompletableFuture<PooledBuffer> bytes) {}

  private final Deque<UnderWay> underWay = new ArrayDeque<>();

  /** Bytes that are here; null before the first and after the last piece. */
  private @Nullable PooledBuffer buffer;

  /** Position in the buffer, and the end of its bytes. */
  private int position;

  private int limit;
  private boolean closed;

  BatchStream(
      BlockServerClient servers,
      RdmaEndpoint endpoint,
      int partition,
      List<NodePartition> partitions,
      long timeoutMs) {
    this(
        new PieceReads(servers, endpoint, partition, timeoutMs)::start,
        new BatchPlan(partitions, endpoint.buffers().maxBufferBytes()),
        timeoutMs);
  }

  /**
   * @param reads starts to READ a piece, and completes with its buffer
   */
  BatchStream(
      Function<Piece, CompletableFuture<PooledBuffer>> reads, BatchPlan plan, long timeoutMs) {
    this.timeoutMs = timeoutMs;
    this.reads = reads;
    this.plan = plan;
    boolean started = false;
    try {
      readAhead();
      started = true;
    } finally {
      if (!started) {
        close(); // The caller has no stream to close.
      }
    }
  }

  private void readAhead() {
    while (underWay.size() < AHEAD) {
      Piece next = plan.next();
      if (next == null) {
        return;
      }
      underWay.add(new UnderWay(next, reads.apply(next)));
    }
  }

  @Override
  public int read() throws IOException {
    byte[] one = new byte[1];
    return read(one, 0, 1) < 0 ? -1 : Byte.toUnsignedInt(one[0]);
  }

  @Override
  public int read(byte[] target, int offset, int length) throws IOException {
    Objects.checkFromIndexSize(offset, length, target.length);
    if (length == 0) {
      return 0;
    }
    if (position == limit && !await()) {
      return -1;
    }
    int read = Math.min(length, limit - position);
    MemorySegment.copy(
        Objects.requireNonNull(buffer).segment(), JAVA_BYTE, position, target, offset, read);
    position += read;
    return read;
  }

  /**
   * Waits for the next piece.
   *
   * @return false if there is none
   */
  private boolean await() throws IOException {
    release();
    if (closed) {
      throw new IOException("the stream is closed");
    }
    UnderWay next = underWay.peek();
    if (next == null) {
      return false;
    }
    PooledBuffer bytes = get(next.bytes());
    underWay.remove();
    buffer = bytes;
    position = 0;
    limit = (int) bytes.segment().byteSize();
    readAhead();
    return true;
  }

  private PooledBuffer get(CompletableFuture<PooledBuffer> read) throws IOException {
    try {
      // Each step of a READ has its deadline; this limit is for a defect there.
      return read.get(4 * timeoutMs, TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new InterruptedIOException("the reduce task ends");
    } catch (TimeoutException e) {
      throw new NodeReadException(HttpReason.DEADLINE, "a READ was not answered", e);
    } catch (ExecutionException e) {
      if (e.getCause() instanceof NodeReadException failed) {
        throw failed;
      }
      throw new NodeReadException(
          HttpReason.TRANSPORT, "a READ failed: " + e.getCause(), e.getCause());
    }
  }

  private void release() {
    if (buffer != null) {
      buffer.release();
      buffer = null;
      position = 0;
      limit = 0;
    }
  }

  /** Releases all buffers, also those of READs that end later. Idempotent. */
  @Override
  public void close() {
    closed = true;
    release();
    underWay.forEach(each -> each.bytes().thenAccept(PooledBuffer::release));
    underWay.clear();
  }
}
