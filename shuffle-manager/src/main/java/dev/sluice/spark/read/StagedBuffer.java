package dev.sluice.spark.read;

import dev.sluice.rdma.transfer.PeerAddress;
import dev.sluice.spark.transport.FallbackReason;
import dev.sluice.spark.transport.ReadTransport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A buffer of the pool for bytes of a peer and, where some of them have to be staged, what comes
 * first: one of the turns that its task has at the peer, and then a share of what may wait for
 * that, so that a slow peer leaves buffers to others. All take them in this order, so that nobody
 * waits in a circle. It gives back each of them once, whatever is thrown. Any thread, one step at a
 * time; never blocks.
 */
final class StagedBuffer {
  private static final Logger LOG = LoggerFactory.getLogger(StagedBuffer.class);

  /** Has one answer, on any thread, or none where it does not wait any more. */
  interface User {
    boolean awaits();

    /** Whose turns it takes. */
    TaskLimit task();

    long deadlineNanos();

    /** Others of its task have come from the peer: the time to the deadline begins again. */
    void extendDeadline();

    /** It is the user's, to {@link StagedBuffer#release}. */
    void acquired(StagedBuffer buffer);

    /** There is none. */
    void failed(FallbackReason reason);
  }

  private final ReadPath path;
  private final PeerAddress peer;
  private final int bytes;
  private final User user;
  private boolean hasTurn;
  private boolean hasShare;
  private ReadTransport.Buffer buffer;

  private StagedBuffer(ReadPath path, PeerAddress peer, int bytes, User user) {
    this.path = path;
    this.peer = peer;
    this.bytes = bytes;
    this.user = user;
  }

  /**
   * @param isStaged whether the peer has to stage some of the bytes
   */
  static void acquire(ReadPath path, PeerAddress peer, int bytes, boolean isStaged, User user) {
    StagedBuffer staged = new StagedBuffer(path, peer, bytes, user);
    staged.guard(isStaged ? staged::acquireTurn : staged::acquireBuffer);
  }

  /** Runs a step if anybody waits; should it fail by a defect, the user still gets its answer. */
  private void guard(Runnable step) {
    try {
      if (user.awaits()) {
        step.run();
      } else {
        release();
      }
    } catch (RuntimeException | Error e) {
      LOG.error("A buffer for {} bytes of {} is given up", bytes, peer, e);
      failed(FallbackReason.TRANSPORT);
    }
  }

  private void acquireTurn() {
    user.task().acquireTurn(peer, this, this::turnCame);
  }

  /** While it waits for its turn. */
  void extendDeadline() {
    user.extendDeadline();
  }

  private void turnCame() {
    hasTurn = true;
    guard(this::acquireShare);
  }

  private void acquireShare() {
    if (!path.staging().acquire(peer, bytes, this::granted)) {
      path.counters().stagedWait();
    }
  }

  private void granted() {
    hasShare = true;
    guard(this::acquireBuffer);
  }

  /** What is to be staged waits as for its peer: Spark's transfer would have the same disk read. */
  private void acquireBuffer() {
    long deadlineNanos = user.deadlineNanos();
    long untilNanos = hasShare ? deadlineNanos : path.bufferDeadlineNanos(deadlineNanos);
    path.transport().acquire(bytes, untilNanos, this::acquired);
  }

  private void acquired(ReadTransport.Buffer acquired) {
    buffer = acquired;
    guard(
        () -> {
          if (acquired == null) {
            failed(FallbackReason.BUFFERS);
          } else {
            user.acquired(this);
          }
        });
  }

  private void failed(FallbackReason reason) {
    release();
    user.failed(reason);
  }

  /** Until it is released. */
  ReadTransport.Buffer get() {
    return buffer;
  }

  /** What was staged is here: the buffer alone is left, which from now on is the caller's. */
  ReadTransport.Buffer take() {
    ReadTransport.Buffer taken = buffer;
    buffer = null;
    releaseShare();
    return taken;
  }

  /** What was staged is here: the buffer alone is left. Idempotent. */
  void releaseShare() {
    releaseShare(true);
  }

  private void releaseShare(boolean arrived) {
    if (hasShare) {
      hasShare = false;
      path.staging().release(peer, bytes);
    }
    if (hasTurn) {
      hasTurn = false;
      user.task().releaseTurn(peer, arrived);
    }
  }

  /** Gives back what it has. Idempotent. */
  void release() {
    if (buffer != null) {
      buffer.release();
      buffer = null;
    }
    releaseShare(false);
  }
}
