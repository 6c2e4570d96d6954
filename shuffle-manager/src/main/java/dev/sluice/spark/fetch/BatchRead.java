// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.fetch;

import static java.util.Objects.requireNonNull;

import dev.sluice.spark.metrics.ShuffleCounter;
import dev.sluice.spark.table.LocatedBlocks;
import dev.sluice.spark.table.LocatedBlocks.Span;
import dev.sluice.spark.transport.FallbackReason;
import dev.sluice.spark.transport.ReadTransport;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.BitSet;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * READs a span of located blocks into one pooled buffer. The sink gets it when the blocks that fit
 * are there. A single block that is larger than one staging request is READ part by part. {@link
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

    /**
     * Takes the buffer, which the sink has to release.
     *
     * @param there the blocks whose bytes are in the buffer, from the first one of the span on, and
     *     failed ones among them
     */
    void arrived(ReadTransport.Buffer buffer, Span there);

    void failed(FallbackReason reason);
  }

  private final FetchContext path;
  private final LocatedBlocks located;
  private final Span span;
  private final Sink sink;
  private @Nullable TaskReads task;

  /** Null before the buffer was acquired. */
  private @Nullable BufferPermit buffer;

  /** Bytes that are there; more than one part only if the span is a single block. */
  private int bytes;

  BatchRead(FetchContext path, LocatedBlocks located, Span span, Sink sink) {
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
    BufferPermit.acquire(path, located.peer(), span.bytes(), span.isStaged(), this);
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
    read();
  }

  private void read() {
    int left = span.bytes() - bytes;
    int most = span.isStaged() ? Math.min(left, path.options().maxStagedBytes()) : left;
    DataRead.Place place =
        new DataRead.Place(span, bytes, most, requireNonNull(buffer).get(), bytes);
    new DataRead(path, located, place, sink.deadlineNanos(), this).start();
  }

  /** A part of a block that is too large for the buffer is useless. */
  @Override
  public boolean wants(Span there) {
    return !span.isSingle() || located.length(span.from()) <= span.bytes();
  }

  @Override
  public void arrived(Span there) {
    bytes += there.bytes();
    if (there.bytes() > 0 && span.isSingle() && bytes < located.length(span.from())) {
      readNext();
    } else {
      Span all = new Span(there.from(), there.to(), bytes, span.isStaged());
      sink.arrived(requireNonNull(buffer).take(), all);
    }
  }

  /**
   * READs the next part. Handles its own exceptions: the READ of the part before has its answer, so
   * no caller can report them.
   */
  private void readNext() {
    try {
      if (sink.awaits()) {
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
   * @param arrived the blocks that are there, back to back
   * @return the blocks with wrong bytes
   */
  BitSet mismatches(MemorySegment arrived, Span there) {
    BitSet wrong = new BitSet();
    BlockVerifier verifier = new BlockVerifier(located, path.options().verifyChecksums());
    ByteBuffer bytes = arrived.asByteBuffer();
    int start = 0;
    int[] ends = located.ends(there);
    for (int i = 0; i < ends.length; i++) {
      int block = there.from() + i;
      if (ends[i] > start) {
        verifier.begin(block);
        verifier.update(bytes.limit(ends[i]).position(start));
        if (!verifier.matches()) {
          wrong.set(block);
          LOG.warn(
              "Block {} READ from {} does not match the checksum it was written with",
              located.blocks().name(block),
              located.peer());
        }
        start = ends[i];
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
