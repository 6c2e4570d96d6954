package dev.sluice.spark.read;

import dev.sluice.rdma.transfer.PeerAddress;
import dev.sluice.rdma.transfer.ReadException;
import dev.sluice.rdma.transfer.ReadListener;
import dev.sluice.spark.gather.Chunk;
import dev.sluice.spark.metrics.FallbackReason;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * READs members [from, to) of a group into one pooled buffer, and verifies them on a delivery
 * thread. Answers {@link TaskGather} exactly once, at the latest at the deadline: with the chunk,
 * which then owns the buffer, or without, when its members are left to Spark.
 */
final class ChunkRead implements ReadListener {
  private static final Logger LOG = LoggerFactory.getLogger(ChunkRead.class);

  private final ReadPath path;
  private final TaskGather task;
  private final PeerAddress peer;
  private final LocatedGroup members;
  private final int from;
  private final int to;
  private final int bytes;
  private final AtomicBoolean answered = new AtomicBoolean();
  private long startNanos;
  private long deadlineNanos;
  private ReadTransport.Buffer buffer;
  private volatile Future<?> timeout;

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

  int bytes() {
    return bytes;
  }

  void start() {
    startNanos = path.timer().nanoTime();
    deadlineNanos = path.deadlineNanos();
    try {
      timeout =
          path.timer().schedule(() -> giveUp(FallbackReason.DEADLINE), deadlineNanos - startNanos);
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
    if (answered.get()) {
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
    path.deliver(this::verify);
  }

  @Override
  public void onFailure(ReadException e) {
    buffer.release();
    FallbackReason reason = Failures.reason(e);
    path.deliver(
        () -> {
          if (reason == FallbackReason.STALE_LOCATION) {
            path.forget(members.group().shuffleId(), members.outputs(from, to));
          }
          giveUp(reason);
        });
  }

  private void verify() {
    int wrong;
    try {
      wrong = members.firstMismatch(buffer.segment(), from, to);
    } catch (Throwable e) {
      buffer.release();
      failed(e);
      return;
    }
    if (wrong < 0) {
      deliver();
    } else {
      mismatched(wrong);
    }
  }

  private void mismatched(int member) {
    buffer.release();
    path.counters().corrupt(1);
    LOG.warn(
        "Block {} READ from {} does not match the checksum it was written with; it is READ again,"
            + " and {} blocks with it",
        members.group().blockId(member),
        peer,
        to - from - 1);
    giveUp(FallbackReason.CHECKSUM);
  }

  private void deliver() {
    if (!claim()) {
      buffer.release();
      return;
    }
    long requestNanos = path.timer().nanoTime() - startNanos;
    task.arrived(
        new Chunk(
            members.group(),
            from,
            members.ends(from, to),
            buffer.segment(),
            requestNanos,
            this::released));
    path.transport().touch(peer, members.group().shuffleId());
  }

  private void released() {
    buffer.release();
    task.released(bytes);
  }

  private void failed(Throwable e) {
    LOG.error("Reading from {} failed unexpectedly", peer, e);
    giveUp(FallbackReason.TRANSPORT);
  }

  private void giveUp(FallbackReason reason) {
    if (claim()) {
      LOG.debug("A chunk of {} bytes from {} is given up: {}", bytes, peer, reason);
      members.group().leave(from, to);
      task.gaveUp(bytes);
    }
  }

  private boolean claim() {
    if (!answered.compareAndSet(false, true)) {
      return false;
    }
    Future<?> scheduled = timeout;
    if (scheduled != null) {
      scheduled.cancel(false);
    }
    return true;
  }
}
