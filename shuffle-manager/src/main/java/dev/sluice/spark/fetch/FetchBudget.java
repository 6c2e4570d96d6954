// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.fetch;

import static java.util.Objects.requireNonNull;

import dev.sluice.rdma.transfer.PeerAddress;
import dev.sluice.rdma.transfer.PeerQuota;
import dev.sluice.rdma.transfer.ReadBuffer;
import dev.sluice.spark.fetch.RdmaBlockStoreClient.ReadOptions;
import dev.sluice.spark.fetch.ReadThreads.DeadlineTimer;
import dev.sluice.spark.metrics.ShuffleCounter;
import dev.sluice.spark.metrics.ShuffleCounters;
import dev.sluice.spark.transport.FallbackReason;
import dev.sluice.spark.transport.ReadTransport;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Budget of an executor's fetches: for bytes that a peer has to stage, staging slots of the task at
 * the peer and a part of the peer's quota; then buffers of the pool. A slow peer thus leaves
 * buffers to others. A permit has them all, and acquires them in this order, which prevents
 * deadlock. {@link RangeFetch} and {@link LargeBlockRead} acquire permits. {@link FetchContext} has
 * the budget of the executor. Any thread; never blocks; nothing to close.
 */
final class FetchBudget {
  private static final Logger LOG = LoggerFactory.getLogger(FetchBudget.class);

  /** Request of a task that permits are for: a call of Spark's client, or a batch. */
  interface Request {
    /** Returns the state of the task, which has the staging slots. */
    TaskReads task();

    long deadlineNanos();

    /** Restarts the deadline, as other bytes of the task have come from the peer. */
    void extendDeadline();
  }

  /** Gets one answer, on any thread. Gets none once it no longer waits. */
  interface Waiter {
    boolean awaits();

    /** Takes the permit, which the waiter has to close. */
    void acquired(Permit permit);

    /** Called if nothing could be acquired. */
    void failed(FallbackReason reason);
  }

  private final ReadTransport transport;
  private final ReadOptions options;
  private final DeadlineTimer timer;
  private final ShuffleCounters counters;

  /** Quotas of the buffers that wait for staging. */
  private final PeerQuota<PeerAddress> staging;

  FetchBudget(
      ReadTransport transport, ReadOptions options, DeadlineTimer timer, ShuffleCounters counters) {
    this.transport = transport;
    this.options = options;
    this.timer = timer;
    this.counters = counters;
    // Half of the pool stays for registered bytes; four peers can use the other half.
    this.staging = new PeerQuota<>(transport.poolBytes() / 2, transport.poolBytes() / 8);
  }

  /**
   * Acquires a permit for bytes of a peer.
   *
   * @param isStaged true if the peer has to stage some of the bytes
   */
  void acquire(Request request, PeerAddress peer, int bytes, boolean isStaged, Waiter waiter) {
    Permit permit = new Permit(request, peer, bytes, waiter);
    permit.guard(isStaged ? permit::acquireSlot : permit::acquireBuffer);
  }

  /** Returns when a fetch with this deadline has to stop waiting for a buffer. */
  long bufferDeadlineNanos(long deadlineNanos) {
    long wait = timer.nanoTime() + TimeUnit.MILLISECONDS.toNanos(options.bufferWaitMs());
    return wait - deadlineNanos < 0 ? wait : deadlineNanos;
  }

  /** Returns the bytes of the permits for staged bytes. */
  long stagedBytes() {
    return staging.bytes();
  }

  /**
   * A buffer, with the slot and the quota that it needs. The waiter owns it, and closes it unless
   * it takes the buffer. One step at a time, on any thread. Hold no lock when it is closed: that
   * may run the next step of another permit. Each part is released once, also after an exception.
   */
  final class Permit {
    private final Request request;
    private final PeerAddress peer;
    private final int bytes;
    private final Waiter waiter;
    private boolean hasSlot;

    /** True while this has a part of the peer's quota. */
    private boolean hasShare;

    /** Null before it is acquired, and after it was taken or released. */
    private @Nullable ReadBuffer buffer;

    private Permit(Request request, PeerAddress peer, int bytes, Waiter waiter) {
      this.request = request;
      this.peer = peer;
      this.bytes = bytes;
      this.waiter = waiter;
    }

    /** Runs a step if the waiter still waits. It gets its answer even after a defect. */
    private void guard(Runnable step) {
      try {
        if (waiter.awaits()) {
          step.run();
        } else {
          close();
        }
      } catch (RuntimeException | Error e) {
        LOG.error("Acquiring a buffer for {} bytes of {} failed unexpectedly", bytes, peer, e);
        failed(FallbackReason.TRANSPORT);
      }
    }

    private void acquireSlot() {
      request.task().acquireSlot(peer, this, this::slotAcquired);
    }

    /** Restarts the deadline while this waits for its staging slot. */
    void extendDeadline() {
      request.extendDeadline();
    }

    private void slotAcquired() {
      hasSlot = true;
      guard(this::acquireShare);
    }

    private void acquireShare() {
      if (!staging.acquire(peer, bytes, this::shareAcquired)) {
        counters.add(ShuffleCounter.STAGED_WAITS, 1);
      }
    }

    private void shareAcquired() {
      hasShare = true;
      guard(this::acquireBuffer);
    }

    /**
     * Acquires the buffer. A staged read waits for it as long as for its peer: Spark's own
     * transport would read the same disk.
     */
    private void acquireBuffer() {
      long deadlineNanos = request.deadlineNanos();
      long untilNanos = hasShare ? deadlineNanos : bufferDeadlineNanos(deadlineNanos);
      transport.acquire(bytes, untilNanos, this::bufferAcquired);
    }

    private void bufferAcquired(@Nullable ReadBuffer acquired) {
      buffer = acquired;
      guard(
          () -> {
            if (acquired == null) {
              failed(FallbackReason.BUFFERS);
            } else {
              waiter.acquired(this);
            }
          });
    }

    private void failed(FallbackReason reason) {
      try {
        close();
      } finally {
        waiter.failed(reason);
      }
    }

    /** Returns the buffer, valid until the permit is closed. */
    ReadBuffer buffer() {
      return requireNonNull(buffer);
    }

    /** Releases slot and quota, as the bytes have arrived, and gives the buffer to the caller. */
    ReadBuffer take() {
      ReadBuffer taken = buffer();
      buffer = null;
      arrived();
      return taken;
    }

    /** Releases slot and quota, as the bytes have arrived. Idempotent. */
    void arrived() {
      releaseShare(true);
    }

    private void releaseShare(boolean arrived) {
      if (hasShare) {
        hasShare = false;
        staging.release(peer, bytes);
      }
      if (hasSlot) {
        hasSlot = false;
        request.task().releaseSlot(peer, arrived);
      }
    }

    /** Releases everything that it still has. Idempotent. */
    void close() {
      ReadBuffer released = buffer;
      buffer = null;
      try {
        if (released != null) {
          released.release();
        }
      } finally {
        releaseShare(false);
      }
    }
  }
}
