package dev.sluice.spark.read;

import dev.sluice.spark.metrics.FallbackReason;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;

/**
 * READs blocks in slices, one block after the other, through two pooled buffers: the sink has one
 * slice while the next one is READ. Everything here is a step of the one whose sink it is, which
 * closes it; READs that are under way then give back their buffers when they end.
 */
final class Slices {
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

  private final ReadPath path;
  private final FetchCall call;
  private final LocatedBlocks located;
  private final int bufferBytes;
  private final boolean staged;
  private final Steps steps;
  private final Sink sink;
  private final Deque<ReadTransport.Buffer> free = new ArrayDeque<>();

  /** In the order of their bytes. */
  private final Deque<Slice> underWay = new ArrayDeque<>();

  private int block;

  /** Where the block's next slice begins. */
  private long position;

  /** Whether a second buffer was asked for. */
  private boolean second;

  private boolean closed;

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
    this.steps = steps;
    this.sink = sink;
  }

  void start() {
    acquire();
  }

  private void acquire() {
    if (staged) {
      path.staging().acquire(located.peer(), bufferBytes, () -> steps.add(this::acquireBuffer));
    } else {
      acquireBuffer();
    }
  }

  private void acquireBuffer() {
    if (closed) {
      endStaging();
      return;
    }
    path.transport()
        .acquire(
            bufferBytes,
            path.bufferDeadlineNanos(call.deadlineNanos()),
            buffer -> steps.add(() -> acquired(buffer)));
  }

  /** Where there is no second buffer slices are READ one after the other. */
  private void acquired(ReadTransport.Buffer buffer) throws IOException {
    if (buffer == null) {
      endStaging();
      if (!second) {
        sink.failed(FallbackReason.BUFFERS);
      }
      return;
    }
    release(buffer);
    if (!closed) {
      if (second) {
        read();
      } else {
        sink.ready();
      }
    }
  }

  /** READs a block from its beginning, once the one before it has ended. */
  void begin(int next) {
    block = next;
    position = 0;
    read();
    if (position < located.length(block) && !second) {
      second = true;
      acquire();
    }
  }

  /** Nobody waits for the rest of the block. */
  void skipRest() {
    position = located.length(block);
  }

  /** As many as there are buffers. */
  private void read() {
    while (position < located.length(block) && !free.isEmpty()) {
      int bytes = (int) Math.min(bufferBytes, located.length(block) - position);
      Extent extent = located.extent(block, position, bytes);
      Slice slice = new Slice(free.poll(), bytes);
      underWay.add(slice);
      slice.read(extent);
      position += bytes;
    }
  }

  private final class Slice implements DataRead.Sink {
    private final ReadTransport.Buffer buffer;
    private final int bytes;
    private boolean isThere;

    Slice(ReadTransport.Buffer buffer, int bytes) {
      this.buffer = buffer;
      this.bytes = bytes;
    }

    void read(Extent extent) {
      DataRead.start(path, located, List.of(extent), buffer, call.deadlineNanos(), this);
    }

    @Override
    public void arrived() {
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
      slice.end();
      sink.arrived(slice.buffer.segment().asSlice(0, slice.bytes));
      read();
      if (underWay.isEmpty()) {
        sink.ended();
      }
    }
  }

  private void release(ReadTransport.Buffer buffer) {
    free.add(buffer);
    if (closed) {
      releaseFree();
    }
  }

  private void releaseFree() {
    for (ReadTransport.Buffer buffer = free.poll(); buffer != null; buffer = free.poll()) {
      buffer.release();
      endStaging();
    }
  }

  /** A buffer is not waited with for the peer any more. */
  private void endStaging() {
    if (staged) {
      path.staging().release(located.peer(), bufferBytes);
    }
  }

  /** Idempotent. */
  void close() {
    closed = true;
    underWay.removeIf(slice -> slice.isThere && free.add(slice.buffer));
    releaseFree();
  }
}
