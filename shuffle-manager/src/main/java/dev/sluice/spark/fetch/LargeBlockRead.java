// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.fetch;

import static java.util.Objects.requireNonNull;

import dev.sluice.rdma.transfer.DeferredResults;
import dev.sluice.spark.fetch.FetchBudget.Permit;
import dev.sluice.spark.table.LocatedBlocks;
import dev.sluice.spark.table.Span;
import dev.sluice.spark.transport.FallbackReason;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.BitSet;
import java.util.Deque;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * READs blocks of any size in slices, one block after the other, into {@link BlockSink}s. One slice
 * is stored while the next ones are READ into a few pooled buffers. If the peer has to stage, each
 * slice acquires a staging slot and a buffer anew, so that a block of many slices keeps neither
 * from others. The deadline moves on as long as there is progress.
 *
 * <p>{@link ReadAttempt} makes and starts it. Everything else runs in steps, one at a time and in
 * their order, on delivery threads. Steps alone use the plain fields. Answers of READs and buffers
 * come on other threads, and only add steps; these threads read {@code closed}. No step holds a
 * lock. This owns buffers and the current sink, and frees both when it ends. A READ that is under
 * way then frees its buffer when it ends.
 */
final class LargeBlockRead implements FetchBudget.Waiter {
  private static final Logger LOG = LoggerFactory.getLogger(LargeBlockRead.class);

  private static final int NONE = -1;

  /** One slice is READ while another is stored. A task also has two staging slots at a peer. */
  private static final int MIN_BUFFERS = 2;

  /** Limit for registered blocks. A thread that gets a core then finds several slices to store. */
  private static final int MAX_BUFFERS = 8;

  /** A step. It waits for nothing but a disk. */
  private interface Step {
    void run() throws IOException;
  }

  private final FetchContext path;
  private final FetchCall call;
  private final ReadAttempt attempt;
  private final LocatedBlocks located;
  private final boolean staged;
  private final int bufferBytes;
  private final int mostBuffers;
  private final DeferredResults<Step> steps = new DeferredResults<>(this::run);
  private final Deque<Permit> free = new ArrayDeque<>();

  /** Slices that are READ or wait to be stored, in the order of their bytes. */
  private final Deque<Slice> underWay = new ArrayDeque<>();

  /** Blocks in their order. Those before the current one have their answer. */
  private final BitSet blocks;

  /** The current block; {@link #NONE} before the first. */
  private int block = NONE;

  /** Offset of the next slice in the block. */
  private long position;

  /** Gets the bytes of the current block; null before the first block. */
  private @Nullable BlockSink target;

  /** True while a buffer is requested. */
  private boolean asking;

  private volatile boolean closed;

  LargeBlockRead(FetchContext path, ReadAttempt attempt, BitSet blocks) {
    this.path = path;
    this.call = attempt.call();
    this.attempt = attempt;
    this.located = attempt.located();
    this.blocks = (BitSet) blocks.clone();
    this.staged = blocks.stream().anyMatch(located::isStaged);
    long longest = blocks.stream().mapToLong(located::length).max().orElseThrow();
    this.bufferBytes =
        (int) Math.min(longest, staged ? path.maxStagedBytes() : path.maxGroupBytes());
    // All of them together take no more of the pool than one READ of a large block.
    int most = path.transport().maxBufferBytes() / bufferBytes;
    this.mostBuffers = staged ? MIN_BUFFERS : Math.clamp(most, MIN_BUFFERS, MAX_BUFFERS);
  }

  /** Requests a buffer. Without a second buffer, slices are READ one after the other. */
  void start() {
    asking = true;
    path.budget().acquire(call, located.peer(), bufferBytes, staged, this);
  }

  private void addStep(Step step) {
    steps.add(step);
    path.deliverer().execute(steps::run);
  }

  /** Falls back after an exception. Spark's own transport reports a disk that fails. */
  private void run(Step step) {
    try {
      step.run();
    } catch (IOException | RuntimeException | Error e) { // The other steps still have to run.
      LOG.warn(
          "Storing blocks READ from {} failed; Spark's own transfer fetches the rest",
          located.peer(),
          e);
      end(call.files() == null ? FallbackReason.BUFFERS : FallbackReason.DISK);
    }
  }

  @Override
  public boolean awaits() {
    return !closed;
  }

  @Override
  public void acquired(Permit permit) {
    addStep(
        () -> {
          asking = false;
          if (closed) {
            permit.close();
            return;
          }
          free.add(permit);
          if (block == NONE) {
            nextBlock();
          } else {
            read();
          }
        });
  }

  @Override
  public void failed(FallbackReason reason) {
    addStep(
        () -> {
          asking = false;
          if (underWay.isEmpty()) {
            end(reason);
          }
        });
  }

  private void nextBlock() throws IOException {
    do {
      block = blocks.nextSetBit(block + 1);
    } while (block != NONE && !attempt.block(block).isPending());
    if (block == NONE) {
      close();
    } else {
      beginBlock(false);
    }
  }

  private void beginBlock(boolean again) throws IOException {
    target = BlockSink.of(path, attempt, block, again);
    position = 0;
    read();
  }

  private boolean hasMore() {
    return position < located.length(block);
  }

  /** READs as many slices as there are free buffers. */
  private void read() {
    while (hasMore() && !free.isEmpty()) {
      Slice slice = new Slice(free.peek());
      underWay.add(slice);
      free.remove();
      slice.fetch.start(slice.permit, position);
      position += slice.bytes;
    }
    if (hasMore() && !asking && underWay.size() < buffers()) {
      start();
    }
  }

  /** Returns the limit of buffers. It is two while others wait for buffers. */
  private int buffers() {
    return path.transport().isShort() ? MIN_BUFFERS : mostBuffers;
  }

  /** A slice of the current block. A failed READ closes its permit. */
  private final class Slice implements RangeFetch.Sink {
    private final Permit permit;
    private final int bytes;

    /** Made before the slice takes its permit, as there may be no memory for it. */
    private final RangeFetch fetch;

    private boolean isThere;

    Slice(Permit permit) {
      this.permit = permit;
      this.bytes = (int) Math.min(bufferBytes, located.length(block) - position);
      Span span = new Span(located, block, block + 1, bytes, located.isStaged(block));
      this.fetch = new RangeFetch(path, call, span, this);
    }

    @Override
    public boolean awaits() {
      return !closed;
    }

    @Override
    public void arrived(Permit ownPermit, Span there) {
      permit.arrived();
      call.extendDeadline();
      addStep(
          () -> {
            isThere = true;
            if (closed) {
              free(this);
            } else {
              storeArrived();
            }
          });
    }

    @Override
    public void failed(FallbackReason reason) {
      addStep(
          () -> {
            underWay.remove(this);
            end(reason);
          });
    }
  }

  /** Stores the slices that have arrived, in the order of their bytes. */
  private void storeArrived() throws IOException {
    while (!closed && !underWay.isEmpty() && underWay.peek().isThere) {
      Slice slice = underWay.peek();
      try {
        path.transport().touch(located.peer(), located.blocks().shuffleId());
        if (attempt.block(block).isPending()) {
          MemorySegment bytes = slice.permit.buffer().segment().asSlice(0, slice.bytes);
          requireNonNull(target).append(bytes);
        } else {
          position = located.length(block); // It has its answer: skips the rest.
        }
      } finally {
        free(slice);
      }
      read();
      if (underWay.isEmpty() && !hasMore()) {
        if (requireNonNull(target).end()) {
          nextBlock();
        } else {
          beginBlock(true);
        }
      }
    }
  }

  /** Frees the buffer of a slice, which no READ writes to any more. */
  private void free(Slice slice) {
    underWay.remove(slice);
    if (closed || staged || underWay.size() + free.size() >= buffers()) {
      slice.permit.close();
    } else {
      free.add(slice.permit);
    }
  }

  /** Frees all buffers that no READ writes to. */
  private void close() {
    closed = true;
    underWay.stream().filter(slice -> slice.isThere).toList().forEach(this::free);
    free.forEach(Permit::close);
    free.clear();
  }

  /** Ends with a failure: falls back for the remaining blocks. */
  private void end(FallbackReason reason) {
    if (closed) {
      return;
    }
    close();
    try {
      if (target != null) {
        target.abort();
      }
    } finally {
      blocks.clear(0, Math.max(block, 0)); // They have their answer.
      attempt.guard(blocks, () -> attempt.failed(blocks, reason));
    }
  }
}
