// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.fetch;

import static java.util.Objects.requireNonNull;

import dev.sluice.rdma.transfer.PeerAddress;
import dev.sluice.spark.metrics.ShuffleCounter;
import dev.sluice.spark.transport.FallbackReason;
import dev.sluice.spark.transport.ReadTransport;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Acquires a pooled buffer for bytes of a peer. If the peer has to stage some of them, it first
 * acquires a staging slot of the task at this peer, then part of the peer's quota. A slow peer thus
 * leaves buffers to others. The fixed order prevents deadlock. Each of them is released once, also
 * after an exception. {@link BatchRead} and {@link BlockSlices} use it, and release it. Any thread,
 * one step at a time; never blocks. Hold no lock at a release: it may run the next step of another
 * permit.
 */
final class BufferPermit {
  private static final Logger LOG = LoggerFactory.getLogger(BufferPermit.class);

  /** Gets one answer, on any thread. Gets none once it no longer waits. */
  interface User {
    boolean awaits();

    /** Returns the state of the task that has the staging slots. */
    TaskReads task();

    long deadlineNanos();

    /** Restarts the deadline, as other bytes of the task have come from the peer. */
    void extendDeadline();

    /** Takes the buffer, which the user has to {@link BufferPermit#release}. */
    void acquired(BufferPermit buffer);

    /** Called if no buffer could be acquired. */
    void failed(FallbackReason reason);
  }

  private final FetchContext path;
  private final PeerAddress peer;
  private final int bytes;
  private final User user;

  /** True while this holds a staging slot. */
  private boolean hasTurn;

  /** True while this holds a part of the peer's quota. */
  private boolean hasShare;

  /** Null before it is acquired, and after it was taken or released. */
  private ReadTransport.@Nullable Buffer buffer;

  private BufferPermit(FetchContext path, PeerAddress peer, int bytes, User user) {
    this.path = path;
    this.peer = peer;
    this.bytes = bytes;
    this.user = user;
  }

  /**
   * @param isStaged true if the peer has to stage some of the bytes
   */
  static void acquire(FetchContext path, PeerAddress peer, int bytes, boolean isStaged, User user) {
    BufferPermit staged = new BufferPermit(path, peer, bytes, user);
    staged.guard(isStaged ? staged::acquireTurn : staged::acquireBuffer);
  }

  /** Runs a step if the user still waits. The user gets its answer even after a defect. */
  private void guard(Runnable step) {
    try {
      if (user.awaits()) {
        step.run();
      } else {
        release();
      }
    } catch (RuntimeException | Error e) {
      LOG.error("Acquiring a buffer for {} bytes of {} failed unexpectedly", bytes, peer, e);
      failed(FallbackReason.TRANSPORT);
    }
  }

  private void acquireTurn() {
    user.task().acquireTurn(peer, this, this::turnCame);
  }

  /** Restarts the user's deadline while this waits for its staging slot. */
  void extendDeadline() {
    user.extendDeadline();
  }

  private void turnCame() {
    hasTurn = true;
    guard(this::acquireShare);
  }

  private void acquireShare() {
    if (!path.staging().acquire(peer, bytes, this::granted)) {
      path.counters().add(ShuffleCounter.STAGED_WAITS, 1);
    }
  }

  private void granted() {
    hasShare = true;
    guard(this::acquireBuffer);
  }

  /**
   * Acquires the buffer. A staged read waits for it as long as for its peer: Spark's own transport
   * would read the same disk.
   */
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

  /** Returns the buffer, valid until the release. */
  ReadTransport.Buffer get() {
    return requireNonNull(buffer);
  }

  /** Releases slot and quota, as the bytes have arrived, and gives the buffer to the caller. */
  ReadTransport.Buffer take() {
    ReadTransport.Buffer taken = get();
    buffer = null;
    releaseShare();
    return taken;
  }

  /** Releases slot and quota, as the bytes have arrived. Idempotent. */
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

  /** Releases everything. Idempotent. */
  void release() {
    if (buffer != null) {
      buffer.release();
      buffer = null;
    }
    releaseShare(false);
  }
}
