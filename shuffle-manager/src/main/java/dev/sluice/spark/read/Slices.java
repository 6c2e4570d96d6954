package dev.sluice.spark.read;

import dev.sluice.spark.table.Extent;
import dev.sluice.spark.table.LocatedBlocks;
import dev.sluice.spark.transport.FallbackReason;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;

/**
 * READs blocks in slices, one block after the other, through a few pooled buffers: the sink has one
 * slice while the next ones are READ. Where the peer has to stage, each slice waits for its turn,
 * and for a buffer, anew: so that a block of many slices keeps others from neither. Everything here
 * is a step of the one whose sink it is, which closes it; READs that are under way then give back
 * their buffers when they end.
 */
final class Slices implements StagedBuffer.User {
  /** What a step throws that these are called in goes to whoever runs the steps. */
  interface Sink {
    /** There is a buffer: blocks can begin. */
    void ready() throws IOException;

    /** The block's next bytes, valid until this returns. */
    void arrived(MemorySegment slice) throws IOException;

    /** The block has no more slices. */
    void ended() throws IOException;

    /** No more can be READ. */
    void failed(FallbackReason reason);
  }

  /** One slice is READ while the sink has the other; and a task asks a peer to stage two. */
  private static final int MIN_BUFFERS = 2;

  /**
   * Of what is registered: each thread that a slice passes through finds several when it runs, on
   * cores that others want as well.
   */
  private static final int MAX_BUFFERS = 8;

  private final ReadPath path;
  private final FetchCall call;
  private final LocatedBlocks located;
  private final int bufferBytes;
  private final boolean staged;
  private final int mostBuffers;
  private final Steps steps;
  private final Sink sink;
  private final Deque<StagedBuffer> free = new ArrayDeque<>();

  /** In the order of their bytes. */
  private final Deque<Slice> underWay = new ArrayDeque<>();

  private int block;

  /** Where the block's next slice begins. */
  private long position;

  private boolean begun;

  /** Whether a buffer was asked for. */
  private boolean asking;

  private volatile boolean closed;

  Slices(
      ReadPath path,
      FetchCall call,
      LocatedBlocks located,
      int bufferBytes,
      boolean staged,
      Steps steps,
      Sink sink) {
    this.path = path;
    this.call = call;
    this.located = located;
    this.bufferBytes = bufferBytes;
    this.staged = staged;
    // All of them together are no more than one READ of a large block takes of the pool.
    int most = path.transport().maxBufferBytes() / bufferBytes;
    this.mostBuffers = staged ? MIN_BUFFERS : Math.clamp(most, MIN_BUFFERS, MAX_BUFFERS);
    this.steps = steps;
    this.sink = sink;
  }

  /** Where there is no other buffer slices are READ one after the other. */
  void acquire() {
    asking = true;
    StagedBuffer.acquire(path, located.peer(), bufferBytes, staged, this);
  }

  @Override
  public boolean awaits() {
    return !closed;
  }

  @Override
  public TaskLimit task() {
    return call.task();
  }

  @Override
  public long deadlineNanos() {
    return call.deadlineNanos();
  }

  @Override
  public void extendDeadline() {
    call.extendDeadline();
  }

  @Override
  public void acquired(StagedBuffer buffer) {
    steps.add(
        () -> {
          asking = false;
          if (closed) {
            buffer.release();
            return;
          }
          free.add(buffer);
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
    steps.add(
        () -> {
          asking = false;
          if (underWay.isEmpty()) {
            sink.failed(reason);
          }
        });
  }

  /** READs a block from its beginning, once the one before it has ended. */
  void begin(int next) {
    block = next;
    position = 0;
    read();
  }

  /** Nobody waits for the rest of the block. */
  void skipRest() {
    position = located.length(block);
  }

  private boolean hasMore() {
    return position < located.length(block);
  }

  /** As many slices as there are buffers. */
  private void read() {
    while (hasMore() && !free.isEmpty()) {
      int bytes = (int) Math.min(bufferBytes, located.length(block) - position);
      Extent extent = located.extent(block, position, bytes);
      Slice slice = new Slice(free.peek(), extent);
      underWay.add(slice);
      free.remove();
      position += bytes;
      slice.read.start();
    }
    if (hasMore() && !asking && underWay.size() < buffers()) {
      acquire();
    }
  }

  /** Others that wait for buffers come before a third one. */
  private int buffers() {
    return path.transport().isShort() ? MIN_BUFFERS : mostBuffers;
  }

  private final class Slice implements DataRead.Sink {
    private final StagedBuffer buffer;
    private final long bytes;
    private final DataRead read;
    private boolean isThere;

    Slice(StagedBuffer buffer, Extent extent) {
      this.buffer = buffer;
      this.bytes = extent.length();
      this.read =
          new DataRead(path, located, List.of(extent), buffer.get(), 0, call.deadlineNanos(), this);
    }

    @Override
    public void arrived() {
      buffer.releaseShare();
      call.extendDeadline();
      steps.add(
          () -> {
            isThere = true;
            if (closed) {
              end();
            } else {
              deliver();
            }
          });
    }

    @Override
    public void failed(FallbackReason reason) {
      steps.add(
          () -> {
            end();
            sink.failed(reason);
          });
    }

    /** Nothing is written into the buffer any more. */
    void end() {
      underWay.remove(this);
      release(buffer);
    }
  }

  /** Gives the sink what has arrived. */
  private void deliver() throws IOException {
    while (!closed && !underWay.isEmpty() && underWay.peek().isThere) {
      Slice slice = underWay.peek();
      try {
        sink.arrived(slice.buffer.get().segment().asSlice(0, slice.bytes));
      } finally {
        slice.end();
      }
      read();
      if (underWay.isEmpty() && !hasMore()) {
        sink.ended();
      }
    }
  }

  private void release(StagedBuffer buffer) {
    if (closed || staged || underWay.size() + free.size() >= buffers()) {
      buffer.release();
    } else {
      free.add(buffer);
    }
  }

  /** Idempotent. */
  void close() {
    closed = true;
    List<Slice> there = underWay.stream().filter(slice -> slice.isThere).toList();
    there.forEach(Slice::end);
    free.forEach(StagedBuffer::release);
    free.clear();
  }
}
