package dev.sluice.spark.read;

import dev.sluice.spark.gather.BlockGroup;
import dev.sluice.spark.gather.Chunk;
import dev.sluice.spark.metrics.FallbackReason;
import java.util.stream.IntStream;

/**
 * READs members of a group for {@link TaskGather}. Verified by the task, on its thread; the chunk
 * then owns the buffer, which may be another one by then.
 */
final class GatheredChunk
    implements TaskGather.Step, TaskGather.Arrived, ChunkRead.Sink, ParkedBytes.Holder {
  private final ReadPath path;
  private final TaskGather task;
  private final BlockGroup group;
  private final LocatedBlocks located;
  private final LocatedBlocks.Span span;
  private final ChunkRead read;
  private long startNanos;
  private long deadlineNanos;
  private long requestNanos;

  /** Guarded by this, as is the buffer until then. */
  private boolean opened;

  GatheredChunk(
      ReadPath path,
      TaskGather task,
      BlockGroup group,
      LocatedBlocks located,
      LocatedBlocks.Span span) {
    this.path = path;
    this.task = task;
    this.group = group;
    this.located = located;
    this.span = span;
    this.read = new ChunkRead(path, located, span, this);
  }

  @Override
  public int bytes() {
    return span.bytes();
  }

  @Override
  public long deadlineNanos() {
    return deadlineNanos;
  }

  @Override
  public void leave() {
    group.leave(span.from(), span.to());
  }

  /** From now on it has to be done by the deadline. */
  void begin() {
    startNanos = path.timer().nanoTime();
    deadlineNanos = path.deadlineNanos();
  }

  void start() {
    read.start(deadlineNanos);
  }

  @Override
  public boolean awaits() {
    return task.awaits(this);
  }

  @Override
  public void arrived() {
    requestNanos = path.timer().nanoTime() - startNanos;
    path.parked().add(this);
    if (!task.arrived(this)) {
      open();
      read.release();
    }
  }

  /** The bytes stay where they are from now on. */
  private void open() {
    path.parked().remove(this);
    synchronized (this) {
      opened = true;
    }
  }

  @Override
  public boolean moveOut() {
    ReadTransport.Buffer left;
    synchronized (this) {
      if (opened) {
        return true;
      }
      left = read.moveOut();
    }
    if (left == null) {
      return false;
    }
    left.release(); // Whoever waits for it goes on here, which no lock may meet.
    return true;
  }

  @Override
  public void failed(FallbackReason reason) {
    if (reason == FallbackReason.STALE_LOCATION) {
      IntStream members = IntStream.range(span.from(), span.to()).filter(located::isRead);
      path.deliver(() -> path.forget(located, members));
    }
    task.giveUp(this, reason);
  }

  /**
   * The chunk, if its bytes are what was written; else null, and its members are left to Spark. For
   * the task's thread, once it has arrived.
   */
  Chunk verify() {
    open();
    boolean wrong;
    try {
      wrong = !read.mismatches().isEmpty();
    } catch (RuntimeException | Error e) {
      read.release();
      throw e;
    }
    path.transport().touch(located.peer(), group.shuffleId());
    if (!wrong) {
      return chunk();
    }
    leave(); // and so READ again, each
    release();
    return null;
  }

  /** What has arrived, verified or not. */
  Chunk chunk() {
    open();
    return new Chunk(
        group,
        span.from(),
        located.ends(span),
        read.buffer().segment(),
        requestNanos,
        this::release);
  }

  /** Gives back the buffer of a READ that has ended, and its share of the limit. */
  private void release() {
    read.release();
    task.released(span.bytes());
  }

  @Override
  public String toString() {
    return read.toString();
  }
}
