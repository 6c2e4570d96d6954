// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.fetch;

import dev.sluice.rdma.transfer.DeferredResults;
import dev.sluice.spark.fetch.FetchBudget.Permit;
import dev.sluice.spark.table.LocatedBlocks;
import dev.sluice.spark.table.LocatedBlocks.Span;
import dev.sluice.spark.transport.FallbackReason;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;

/**
 * READs blocks in slices, one block after the other, through a few pooled buffers: the sink has one
 * slice while the next ones are READ. If the peer has to stage, each slice acquires a staging slot
 * and a buffer anew. A block of many slices thus keeps neither from others. READs that are under
 * way at the close free their buffers when they end.
 *
 * <p>{@link LargeBlockRead} makes it, starts it by {@link #acquire}, and closes it. Everything else
 * runs in steps, one at a time and in their order, on delivery threads. Steps alone use the plain
 * fields. Answers of READs and buffers come on other threads, and only add steps; these threads
 * read {@code closed}. No thread is held between steps, and no lock while a step runs.
 */
final class BlockSlices implements FetchBudget.Waiter {
  /** A step. It waits for nothing but a disk. */
  private interface Step {
    void run() throws IOException;
  }

  /** Gets slices and events in steps. */
  interface Sink {
    /** Called when there is a buffer, so that blocks can begin. */
    void ready() throws IOException;

    /** Takes the block's next bytes, valid until this returns. */
    void arrived(MemorySegment slice) throws IOException;

    /** Called when the block has no more slices. */
    void ended() throws IOException;

    /** Called when no more can be READ. */
    void failed(FallbackReason reason);

    /** Called when a step threw this, as the sink's own methods may. */
    void failed(Throwable e);
  }

  /** One slice is READ while the sink has another. A task also has two staging slots at a peer. */
  private static final int MIN_BUFFERS = 2;

  /**
   * Limit for registered blocks. Threads compete for cores. With several slices under way, a thread
   * finds several to handle when it runs.
   */
  private static final int MAX_BUFFERS = 8;

  private final FetchContext path;
  private final FetchCall call;
  private final LocatedBlocks located;
  private final int bufferBytes;
  private final boolean staged;
  private final int mostBuffers;
  private final Sink sink;
  private final DeferredResults<Step> steps = new DeferredResults<>(this::run);
  private final Deque<Permit> free = new ArrayDeque<>();

  /** Slices that are READ or wait for the sink, in the order of their bytes. */
  private final Deque<Slice> underWay = new ArrayDeque<>();

  private int block;

  /** Offset of the next slice in the block. */
  private long position;

  private boolean begun;

  /** True while a buffer is requested. */
  private boolean asking;

  private volatile boolean closed;

  BlockSlices(
      FetchContext path,
      FetchCall call,
      LocatedBlocks located,
      int bufferBytes,
      boolean staged,
      Sink sink) {
    this.path = path;
    this.call = call;
    this.located = located;
    this.bufferBytes = bufferBytes;
    this.staged = staged;
    // All of them together take no more of the pool than one READ of a large block.
    int most = path.transport().maxBufferBytes() / bufferBytes;
    this.mostBuffers = staged ? MIN_BUFFERS : Math.clamp(most, MIN_BUFFERS, MAX_BUFFERS);
    this.sink = sink;
  }

  private void addStep(Step step) {
    steps.add(step);
    path.deliverer().execute(steps::run);
  }

  private void run(Step step) {
    try {
      step.run();
    } catch (IOException | RuntimeException | Error e) { // The other steps still have to run.
      sink.failed(e);
    }
  }

  /** Requests a buffer. Without a second buffer, slices are READ one after the other. */
  void acquire() {
    asking = true;
    path.budget().acquire(call, located.peer(), bufferBytes, staged, this);
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
          if (begun) {
            read();
          } else {
            begun = true;
            sink.ready();
          }
        });
  }

  @Override
  public void failed(FallbackReason reason) {
    addStep(
        () -> {
          asking = false;
          if (underWay.isEmpty()) {
            sink.failed(reason);
          }
        });
  }

  /** Starts to READ a block, after the one before it has ended. */
  void begin(int next) {
    block = next;
    position = 0;
    read();
  }

  /** Skips the rest of the block, which has its answer. */
  void skipRest() {
    position = located.length(block);
  }

  private boolean hasMore() {
    return position < located.length(block);
  }

  /** READs as many slices as there are free buffers. */
  private void read() {
    while (hasMore() && !free.isEmpty()) {
      int bytes = (int) Math.min(bufferBytes, located.length(block) - position);
      Slice slice = new Slice(free.peek(), bytes);
      underWay.add(slice);
      free.remove();
      position += bytes;
      slice.start();
    }
    if (hasMore() && !asking && underWay.size() < buffers()) {
      acquire();
    }
  }

  /** Returns the limit of buffers. It is two while others wait for buffers. */
  private int buffers() {
    return path.transport().isShort() ? MIN_BUFFERS : mostBuffers;
  }

  private final class Slice implements RangeFetch.Sink {
    private final Permit permit;
    private final int bytes;
    private final long from;

    /** Made before the slice takes its permit, as there may be no memory for it. */
    private final RangeFetch fetch;

    private boolean isThere;

    Slice(Permit permit, int bytes) {
      this.permit = permit;
      this.bytes = bytes;
      this.from = position;
      Span span = new Span(block, block + 1, bytes, located.isStaged(block));
      this.fetch = new RangeFetch(path, call, located, span, this);
    }

    void start() {
      fetch.start(permit, from);
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
              end();
            } else {
              deliver();
            }
          });
    }

    /** Notes a failure, after which the permit is closed. */
    @Override
    public void failed(FallbackReason reason) {
      addStep(
          () -> {
            underWay.remove(this);
            sink.failed(reason);
          });
    }

    /** Frees the buffer, which no READ writes to any more. */
    void end() {
      underWay.remove(this);
      release(permit);
    }
  }

  /** Hands the slices that have arrived to the sink. */
  private void deliver() throws IOException {
    while (!closed && !underWay.isEmpty() && underWay.peek().isThere) {
      Slice slice = underWay.peek();
      try {
        sink.arrived(slice.permit.buffer().segment().asSlice(0, slice.bytes));
      } finally {
        slice.end();
      }
      read();
      if (underWay.isEmpty() && !hasMore()) {
        sink.ended();
      }
    }
  }

  private void release(Permit permit) {
    if (closed || staged || underWay.size() + free.size() >= buffers()) {
      permit.close();
    } else {
      free.add(permit);
    }
  }

  /** Frees all buffers that no READ writes to. Idempotent. */
  void close() {
    closed = true;
    List<Slice> there = underWay.stream().filter(slice -> slice.isThere).toList();
    there.forEach(Slice::end);
    free.forEach(Permit::close);
    free.clear();
  }
}
