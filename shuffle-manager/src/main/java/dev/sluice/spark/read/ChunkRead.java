package dev.sluice.spark.read;

import dev.sluice.spark.metrics.FallbackReason;
import java.nio.ByteBuffer;
import java.util.BitSet;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * READs a span of located blocks into one pooled buffer and gives it to a sink, which releases it.
 * Answers on the thread that ended the READ, or on the caller's; nothing here blocks.
 */
final class ChunkRead implements DataRead.Sink {
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
  private final boolean staged;
  private long deadlineNanos;
  private ReadTransport.Buffer buffer;

  ChunkRead(ReadPath path, LocatedBlocks located, LocatedBlocks.Span span, Sink sink) {
    this.path = path;
    this.located = located;
    this.span = span;
    this.sink = sink;
    this.staged = located.isStaged(span);
  }

  void start(long deadline) {
    deadlineNanos = deadline;
    if (staged) {
      path.staging().acquire(located.peer(), span.bytes(), this::acquire);
    } else {
      acquire();
    }
  }

  private void acquire() {
    try {
      if (sink.awaits()) {
        long bufferDeadline = path.bufferDeadlineNanos(deadlineNanos);
        path.transport().acquire(span.bytes(), bufferDeadline, this::acquired);
      } else {
        endStaging();
      }
    } catch (Throwable e) {
      failed(e);
    }
  }

  /** What was staged is here, or never will be: another buffer may wait for the peer. */
  private void endStaging() {
    if (staged) {
      path.staging().release(located.peer(), span.bytes());
    }
  }

  private void acquired(ReadTransport.Buffer acquired) {
    if (acquired == null) {
      endStaging();
      sink.failed(FallbackReason.BUFFERS);
      return;
    }
    buffer = acquired;
    if (sink.awaits()) {
      DataRead.start(path, located, located.extents(span), buffer, deadlineNanos, this);
    } else {
      buffer.release();
      endStaging();
    }
  }

  @Override
  public void arrived() {
    endStaging();
    sink.arrived();
  }

  @Override
  public void failed(FallbackReason reason) {
    buffer.release();
    endStaging();
    sink.failed(reason);
  }

  private void failed(Throwable e) {
    LOG.error("Reading from {} failed unexpectedly", located.peer(), e);
    endStaging();
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
