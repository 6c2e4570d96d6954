package dev.sluice.spark.read;

import dev.sluice.spark.table.Extent;
import dev.sluice.spark.table.LocatedBlocks;
import dev.sluice.spark.transport.FallbackReason;
import dev.sluice.spark.transport.ReadTransport;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.BitSet;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * READs a span of located blocks into one pooled buffer, which a sink gets when all of them are
 * there. A block that is larger than what a peer stages at a time is READ part by part. Answers on
 * the thread that ended the READ, or on the caller's; nothing here blocks.
 */
final class ChunkRead implements StagedBuffer.User, DataRead.Sink {
  private static final Logger LOG = LoggerFactory.getLogger(ChunkRead.class);

  /** Has one answer: {@link #arrived}, {@link #failed}, or none where nobody waits any more. */
  interface Sink {
    /** Whether it still wants the bytes, when there is a buffer for them, or a part of them. */
    boolean awaits();

    /** Until when it does, which may become later while the chunk waits for its turn. */
    long deadlineNanos();

    void extendDeadline();

    /** All bytes are there; the buffer is the sink's to release. */
    void arrived(ReadTransport.Buffer buffer);

    void failed(FallbackReason reason);
  }

  private final ReadPath path;
  private final LocatedBlocks located;
  private final LocatedBlocks.Span span;
  private final Sink sink;
  private TaskLimit task;
  private StagedBuffer buffer;

  /** What is READ one after the other. */
  private List<List<Extent>> parts;

  /** The one that is READ. */
  private int part;

  /** Where in the buffer it begins. */
  private int offset;

  ChunkRead(ReadPath path, LocatedBlocks located, LocatedBlocks.Span span, Sink sink) {
    this.path = path;
    this.located = located;
    this.span = span;
    this.sink = sink;
  }

  /**
   * @param of the task that wants it
   */
  void start(TaskLimit of) {
    task = of;
    StagedBuffer.acquire(path, located.peer(), span.bytes(), located.isStaged(span), this);
  }

  @Override
  public boolean awaits() {
    return sink.awaits();
  }

  @Override
  public TaskLimit task() {
    return task;
  }

  @Override
  public long deadlineNanos() {
    return sink.deadlineNanos();
  }

  @Override
  public void extendDeadline() {
    sink.extendDeadline();
  }

  @Override
  public void acquired(StagedBuffer acquired) {
    buffer = acquired;
    parts = Extent.split(located.extents(span), path.options().maxStagedBytes());
    read();
  }

  private void read() {
    List<Extent> extents = parts.get(part);
    long deadlineNanos = sink.deadlineNanos();
    new DataRead(path, located, extents, buffer.get(), offset, deadlineNanos, this).start();
  }

  @Override
  public void arrived() {
    part++;
    if (part == parts.size()) {
      sink.arrived(buffer.take());
    } else {
      readNext();
    }
  }

  /** What is thrown here nobody else answers for: the part before has had its answer. */
  private void readNext() {
    try {
      if (sink.awaits()) {
        offset += (int) parts.get(part - 1).stream().mapToLong(Extent::length).sum();
        read();
      } else {
        buffer.release();
      }
    } catch (RuntimeException | Error e) {
      LOG.error("{} is given up", this, e);
      failed(FallbackReason.TRANSPORT);
    }
  }

  @Override
  public void failed(FallbackReason reason) {
    if (buffer != null) {
      buffer.release();
    }
    sink.failed(reason);
  }

  /**
   * Says which blocks are not what was written, and counts them.
   *
   * @param arrived the blocks of the span, one after the other
   */
  BitSet mismatches(MemorySegment arrived) {
    BitSet wrong = new BitSet();
    BlockVerifier verifier = new BlockVerifier(located, path.options().verifyChecksums());
    ByteBuffer bytes = arrived.asByteBuffer();
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
