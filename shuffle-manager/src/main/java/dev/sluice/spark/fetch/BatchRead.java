// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.fetch;

import static java.util.Objects.requireNonNull;

import dev.sluice.spark.metrics.ShuffleCounter;
import dev.sluice.spark.table.FileRange;
import dev.sluice.spark.table.LocatedBlocks;
import dev.sluice.spark.transport.FallbackReason;
import dev.sluice.spark.transport.ReadTransport;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.BitSet;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * READs a span of located blocks into one pooled buffer, which the sink gets when all bytes are
 * there. A block that is larger than one staging request is READ part by part. {@link
 * ClientBatchRead} and {@link TaskBatchRead} each have one. Answers come on the thread that ended
 * the READ, or on the caller's. No method blocks. Plain fields suffice, as one step follows the
 * other. The sink gets its answer unless it {@link Sink#awaits} none; then the buffer is released
 * here.
 */
final class BatchRead implements BufferPermit.User, DataRead.Sink {
  private static final Logger LOG = LoggerFactory.getLogger(BatchRead.class);

  /** Gets one answer: {@link #arrived} or {@link #failed}. Gets none once it no longer waits. */
  interface Sink {
    /**
     * Returns true if the bytes are still wanted. Called when a buffer, or a part of the bytes, is
     * there.
     */
    boolean awaits();

    /** Returns the deadline, which may move later while the batch waits for its staging slot. */
    long deadlineNanos();

    void extendDeadline();

    /** Takes the buffer with all bytes. The sink has to release it. */
    void arrived(ReadTransport.Buffer buffer);

    void failed(FallbackReason reason);
  }

  private final FetchContext path;
  private final LocatedBlocks located;
  private final LocatedBlocks.Span span;
  private final Sink sink;
  private @Nullable TaskReads task;

  /** Null before the buffer was acquired. */
  private @Nullable BufferPermit buffer;

  /** Parts that are READ one after the other. */
  private List<List<FileRange>> parts = List.of();

  /** Index of the part that is being READ. */
  private int part;

  /** Offset of that part in the buffer, in bytes. */
  private int offset;

  BatchRead(FetchContext path, LocatedBlocks located, LocatedBlocks.Span span, Sink sink) {
    this.path = path;
    this.located = located;
    this.span = span;
    this.sink = sink;
  }

  /**
   * @param of state of the task that wants the bytes
   */
  void start(TaskReads of) {
    task = of;
    BufferPermit.acquire(path, located.peer(), span.bytes(), located.isStaged(span), this);
  }

  @Override
  public boolean awaits() {
    return sink.awaits();
  }

  @Override
  public TaskReads task() {
    return requireNonNull(task);
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
  public void acquired(BufferPermit acquired) {
    buffer = acquired;
    parts = FileRange.split(located.ranges(span), path.options().maxStagedBytes());
    read();
  }

  private void read() {
    List<FileRange> ranges = parts.get(part);
    long deadlineNanos = sink.deadlineNanos();
    new DataRead(path, located, ranges, requireNonNull(buffer).get(), offset, deadlineNanos, this)
        .start();
  }

  @Override
  public void arrived() {
    part++;
    if (part == parts.size()) {
      sink.arrived(requireNonNull(buffer).take());
    } else {
      readNext();
    }
  }

  /**
   * READs the next part. Handles its own exceptions: the READ of the part before has its answer, so
   * no caller can report them.
   */
  private void readNext() {
    try {
      if (sink.awaits()) {
        offset += (int) parts.get(part - 1).stream().mapToLong(FileRange::length).sum();
        read();
      } else {
        requireNonNull(buffer).release();
      }
    } catch (RuntimeException | Error e) {
      LOG.error("Reading {} failed unexpectedly; its blocks go by Spark's own transfer", this, e);
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
   * Verifies the blocks on the calling thread. Counts and logs the blocks with wrong bytes.
   *
   * @param arrived the blocks of the span, back to back
   * @return the blocks with wrong bytes
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
    path.counters().add(ShuffleCounter.CORRUPTIONS, wrong.cardinality());
    return wrong;
  }

  @Override
  public String toString() {
    return "a batch of " + span.bytes() + " bytes from " + located.peer();
  }
}
