package dev.sluice.spark.read;

import dev.sluice.rdma.transfer.ReadException;
import dev.sluice.rdma.transfer.ReadListener;
import dev.sluice.spark.metrics.FallbackReason;
import java.nio.ByteBuffer;
import java.util.BitSet;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * READs a span of located blocks into one pooled buffer and gives it to a sink, which releases it.
 * Answers on the thread that ended the READ, or on the caller's; nothing here blocks.
 */
final class ChunkRead implements ReadListener {
  private static final Logger LOG = LoggerFactory.getLogger(ChunkRead.class);

  /** Has one answer: {@link #arrived}, {@link #failed}, or none where nobody waits any more. */
  interface Sink {
    /** Whether it still wants the bytes, when there is a buffer for them. */
    boolean awaits();

    /** All bytes are there; the buffer is the sink's to {@link ChunkRead#release}. */
    void arrived();

    void failed(FallbackReason reason);
  }

  private final ReadPath path;
  private final LocatedBlocks located;
  private final LocatedBlocks.Span span;
  private final Sink sink;
  private long deadlineNanos;
  private ReadTransport.Buffer buffer;

  ChunkRead(ReadPath path, LocatedBlocks located, LocatedBlocks.Span span, Sink sink) {
    this.path = path;
    this.located = located;
    this.span = span;
    this.sink = sink;
  }

  void start(long deadline) {
    deadlineNanos = deadline;
    try {
      path.transport().acquire(span.bytes(), path.bufferDeadlineNanos(deadline), this::acquired);
    } catch (Throwable e) {
      failed(e);
    }
  }

  private void acquired(ReadTransport.Buffer acquired) {
    if (acquired == null) {
      sink.failed(FallbackReason.BUFFERS);
      return;
    }
    buffer = acquired;
    if (!sink.awaits()) {
      buffer.release();
      return;
    }
    try {
      path.transport().read(located.peer(), located.ranges(span), buffer, deadlineNanos, this);
    } catch (RuntimeException | Error e) {
      buffer.release();
      failed(e);
    }
  }

  @Override
  public void onSuccess() {
    sink.arrived();
  }

  @Override
  public void onFailure(ReadException e) {
    LOG.debug("{} was not READ", this, e);
    buffer.release();
    sink.failed(Failures.reason(e));
  }

  private void failed(Throwable e) {
    LOG.error("Reading from {} failed unexpectedly", located.peer(), e);
    sink.failed(FallbackReason.TRANSPORT);
  }

  /** What has arrived: the blocks of the span, one after the other. */
  ReadTransport.Buffer buffer() {
    return buffer;
  }

  void release() {
    buffer.release();
  }

  /**
   * Has a copy of what has arrived from now on.
   *
   * @return the buffer, for the caller to release; null where there is no memory for a copy
   */
  ReadTransport.Buffer moveOut() {
    NettyBuffer copy = NettyBuffer.copyOf(buffer.segment());
    ReadTransport.Buffer left = copy == null ? null : buffer;
    buffer = copy == null ? buffer : copy;
    return left;
  }

  /** The blocks that have arrived and are not what was written; says so and counts them. */
  BitSet mismatches() {
    BitSet wrong = new BitSet();
    BlockVerifier verifier = new BlockVerifier(located, path.options().verifyChecksums());
    ByteBuffer bytes = buffer.segment().asByteBuffer();
    int start = 0;
    for (int block = span.from(); block < span.to(); block++) {
      if (located.isRead(block)) {
        int end = start + (int) located.length(block);
        verifier.begin(block);
        verifier.update(bytes.limit(end).position(start));
        if (!verifier.matches()) {
          wrong.set(block);
          LOG.warn(
              "Block {} READ from {} does not match the checksum it was written with",
              located.blocks().name(block),
              located.peer());
        }
        start = end;
      }
    }
    path.counters().corrupt(wrong.cardinality());
    return wrong;
  }

  @Override
  public String toString() {
    return "a chunk of " + span.bytes() + " bytes from " + located.peer();
  }
}
