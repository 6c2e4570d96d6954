package dev.sluice.spark.read;

import dev.sluice.spark.gather.BlockGroup;
import dev.sluice.spark.gather.Chunk;
import dev.sluice.spark.table.LocatedBlocks;
import dev.sluice.spark.transport.FallbackReason;
import dev.sluice.spark.transport.ReadTransport;

/**
 * READs members of a group for {@link TaskGather}. The task verifies the bytes on its own thread.
 * The resulting {@link Chunk} owns them; they may have left the buffer pool by then. TaskGather
 * calls {@link #begin} and {@link #leave} with its lock, {@link #start} without. Its queue, under
 * that lock, hands the plain fields over from the thread that ended the READ to the task's.
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

  /** Bytes that arrived. */
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

  /** Starts the time to the deadline. */
  void begin() {
    startNanos = path.timer().nanoTime();
    extendDeadline();
  }

  @Override
  public void extendDeadline() {
    deadlineNanos = path.deadlineNanos();
  }

  void start() {
    read.start(task.task());
  }

  /** Tells the peer that the shuffle is in use, so that it keeps the map outputs registered. */
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
   * Returns the chunk. Null if its bytes are not the written ones; Spark then fetches its members.
   * The task's thread calls it after the bytes have arrived.
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
    task.wrong(this); // Spark's iterator READs each block again
    return null;
  }

  /**
   * Makes a chunk of all bytes that arrived. Its release frees the bytes and their part of the
   * limit. If the chunk cannot be made, the bytes are released at once.
   */
  Chunk chunk() {
    try {
      Chunk.Way way = new Chunk.Way(requestNanos, located.stagedBytes(span));
      return new Chunk(group, span.from(), located.ends(span), bytes.open(), way, this::release);
    } catch (RuntimeException | Error e) {
      bytes.release();
      throw e;
    }
  }

  private void release(Chunk chunk) {
    bytes.release();
    task.released(chunk);
  }

  @Override
  public String toString() {
    return read.toString();
  }
}
