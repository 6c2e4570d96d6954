package dev.sluice.spark.read;

import dev.sluice.spark.gather.BlockGroup;
import dev.sluice.spark.gather.Chunk;
import dev.sluice.spark.table.LocatedBlocks;
import dev.sluice.spark.transport.FallbackReason;
import dev.sluice.spark.transport.ReadTransport;

/**
 * READs members of a group for {@link TaskGather}. Verified by the task, on its thread; the chunk
 * then owns the bytes, which may be elsewhere by then.
 */
final class GatheredChunk implements TaskGather.Step, TaskGather.Arrived, ChunkRead.Sink {
  private final ReadPath path;
  private final TaskGather task;
  private final BlockGroup group;
  private final LocatedBlocks located;
  private final LocatedBlocks.Span span;
  private final ChunkRead read;
  private final boolean staged;
  private long startNanos;
  private volatile long deadlineNanos;
  private long requestNanos;

  /** What has arrived. */
  private RdmaManagedBuffer bytes;

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
    this.staged = located.isStaged(span);
  }

  BlockGroup group() {
    return group;
  }

  @Override
  public int bytes() {
    return span.bytes();
  }

  boolean isStaged() {
    return staged;
  }

  @Override
  public long deadlineNanos() {
    return deadlineNanos;
  }

  @Override
  public void leave() {
    group.leave(located.read(span));
  }

  /** From now on it has to be done by the deadline. */
  void begin() {
    startNanos = path.timer().nanoTime();
    extendDeadline();
  }

  @Override
  public void extendDeadline() {
    deadlineNanos = path.deadlineNanos();
  }

  void start() {
    read.start(task.limit());
  }

  /** Its peer is to keep registered what it is READ from. */
  void touch() {
    path.transport().touch(located.peer(), group.shuffleId());
  }

  @Override
  public boolean awaits() {
    return task.awaits(this);
  }

  @Override
  public void arrived(ReadTransport.Buffer buffer) {
    requestNanos = path.timer().nanoTime() - startNanos;
    SharedBytes shared = new SharedBytes(path.parked(), buffer);
    bytes = shared.block(0, span.bytes());
    shared.complete();
    if (!task.arrived(this)) {
      bytes.release();
    }
  }

  @Override
  public void failed(FallbackReason reason) {
    if (reason == FallbackReason.STALE_LOCATION) {
      path.deliverer().execute(() -> path.locator().forget(located, located.read(span)));
    }
    task.giveUp(this, reason);
  }

  /**
   * The chunk, if its bytes are what was written; else null, and its members are left to Spark. For
   * the task's thread, once it has arrived.
   */
  Chunk verify() {
    boolean wrong;
    try {
      wrong = !read.mismatches(bytes.open()).isEmpty();
    } catch (RuntimeException | Error e) {
      bytes.release();
      throw e;
    }
    touch();
    if (!wrong) {
      return chunk();
    }
    bytes.release();
    task.wrong(this); // and so each is READ again
    return null;
  }

  /** What has arrived, verified or not. */
  Chunk chunk() {
    Chunk.Way way = new Chunk.Way(requestNanos, located.stagedBytes(span));
    return new Chunk(group, span.from(), located.ends(span), bytes.open(), way, this::release);
  }

  /** Gives back the bytes, and their share of the limit. */
  private void release() {
    bytes.release();
    task.released(span.bytes());
  }

  @Override
  public String toString() {
    return read.toString();
  }
}
