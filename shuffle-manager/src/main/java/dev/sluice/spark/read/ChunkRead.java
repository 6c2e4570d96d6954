package dev.sluice.spark.read;

import dev.sluice.rdma.transfer.PeerAddress;
import dev.sluice.rdma.transfer.ReadException;
import dev.sluice.rdma.transfer.ReadListener;
import dev.sluice.spark.gather.Chunk;
import dev.sluice.spark.metrics.FallbackReason;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * READs members [from, to) of a group into one pooled buffer, and tells {@link TaskGather} on the
 * thread that ended the READ. Verified by the task, on its thread; the chunk then owns the buffer.
 */
final class ChunkRead implements TaskGather.Step, ReadListener {
  private static final Logger LOG = LoggerFactory.getLogger(ChunkRead.class);

  private final ReadPath path;
  private final TaskGather task;
  private final PeerAddress peer;
  private final LocatedGroup members;
  private final int from;
  private final int to;
  private final int bytes;
  private long startNanos;
  private long deadlineNanos;
  private long requestNanos;
  private ReadTransport.Buffer buffer;

  ChunkRead(
      ReadPath path,
      TaskGather task,
      PeerAddress peer,
      LocatedGroup members,
      int from,
      int to,
      int bytes) {
    this.path = path;
    this.task = task;
    this.peer = peer;
    this.members = members;
    this.from = from;
    this.to = to;
    this.bytes = bytes;
  }

  @Override
  public int bytes() {
    return bytes;
  }

  @Override
  public long deadlineNanos() {
    return deadlineNanos;
  }

  @Override
  public void leave() {
    members.group().leave(from, to);
  }

  /** From now on it has to be done by the deadline. */
  void begin() {
    startNanos = path.timer().nanoTime();
    deadlineNanos = path.deadlineNanos();
  }

  void start() {
    try {
      path.transport().acquire(bytes, path.bufferDeadlineNanos(deadlineNanos), this::acquired);
    } catch (Throwable e) {
      failed(e);
    }
  }

  private void acquired(ReadTransport.Buffer acquired) {
    if (acquired == null) {
      giveUp(FallbackReason.BUFFERS);
      return;
    }
    buffer = acquired;
    if (!task.awaits(this)) {
      buffer.release();
      return;
    }
    try {
      path.transport().read(peer, members.ranges(from, to), buffer, deadlineNanos, this);
    } catch (RuntimeException e) {
      buffer.release();
      failed(e);
    }
  }

  @Override
  public void onSuccess() {
    requestNanos = path.timer().nanoTime() - startNanos;
    if (!task.arrived(this)) {
      buffer.release();
    }
  }

  @Override
  public void onFailure(ReadException e) {
    buffer.release();
    FallbackReason reason = Failures.reason(e);
    if (reason == FallbackReason.STALE_LOCATION) {
      path.deliver(() -> path.forget(members.group().shuffleId(), members.outputs(from, to)));
    }
    giveUp(reason);
  }

  /**
   * The chunk, if its bytes are what was written; else null, and its members are left to Spark. For
   * the task's thread, once it has arrived.
   */
  Chunk verify() {
    int wrong;
    try {
      wrong = members.firstMismatch(buffer.segment(), from, to);
    } catch (RuntimeException | Error e) {
      buffer.release();
      throw e;
    }
    path.transport().touch(peer, members.group().shuffleId());
    if (wrong < 0) {
      return chunk();
    }
    path.counters().corrupt(1);
    LOG.warn(
        "Block {} READ from {} does not match the checksum it was written with; it is READ again,"
            + " and {} blocks with it",
        members.group().blockId(wrong),
        peer,
        to - from - 1);
    leave();
    release();
    return null;
  }

  /** What has arrived, verified or not. */
  Chunk chunk() {
    return new Chunk(
        members.group(),
        from,
        members.ends(from, to),
        buffer.segment(),
        requestNanos,
        this::release);
  }

  /** Gives back the buffer of a READ that has ended, and its share of the limit. */
  void release() {
    buffer.release();
    task.released(bytes);
  }

  private void failed(Throwable e) {
    LOG.error("Reading from {} failed unexpectedly", peer, e);
    giveUp(FallbackReason.TRANSPORT);
  }

  private void giveUp(FallbackReason reason) {
    task.giveUp(this, reason);
  }

  @Override
  public String toString() {
    return "a chunk of " + bytes + " bytes from " + peer;
  }
}
