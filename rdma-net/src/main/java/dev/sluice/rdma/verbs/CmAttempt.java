package dev.sluice.rdma.verbs;

import dev.sluice.rdma.VerbsException;
import dev.sluice.rdma.verbs.cm.RdmaCmEvent;
import dev.sluice.rdma.verbs.cm.RdmaCmId;
import dev.sluice.rdma.verbs.cm.RdmaConnParam;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/**
 * A connection on its way: address, route, request. Its result is the id once the peer accepted.
 * Thread of {@link CmAgent} only, but for the result, which anybody may complete to call it off.
 */
final class CmAttempt {
  private static final int ETIMEDOUT = 110;
  private static final int ECONNREFUSED = 111;

  private final String what;
  private final RdmaCmId id;
  private final RdmaConnParam param;
  private final long deadlineNanos;
  private final CompletableFuture<RdmaCmId> result;

  /**
   * @param what says who connects to whom, for messages
   */
  CmAttempt(
      String what,
      RdmaCmId id,
      RdmaConnParam param,
      long deadlineNanos,
      CompletableFuture<RdmaCmId> result) {
    this.what = what;
    this.id = id;
    this.param = param;
    this.deadlineNanos = deadlineNanos;
    this.result = result;
  }

  RdmaCmId id() {
    return id;
  }

  long leftMs() {
    return Math.max(0, TimeUnit.NANOSECONDS.toMillis(deadlineNanos - System.nanoTime()));
  }

  /** Whether nobody waits for it any more; notices the deadline. */
  boolean isOver() {
    if (leftMs() == 0) {
      fail(ETIMEDOUT, "not connected in time");
    }
    return result.isDone();
  }

  boolean hasFailed() {
    return result.isCompletedExceptionally();
  }

  /** The device is closed. */
  void callOff() {
    fail(VerbsException.EINVAL, "the device is closed");
  }

  /** The next step. */
  void proceed(RdmaCmEvent event) {
    try {
      switch (event.type()) {
        case ADDR_RESOLVED -> id.resolveRoute((int) leftMs());
        case ROUTE_RESOLVED -> id.connect(param);
        case CONNECT_RESPONSE -> result.complete(id);
        case REJECTED -> fail(ECONNREFUSED, "the peer refuses, reason " + event.status());
        default -> fail(Math.abs(event.status()), event.type().toString());
      }
    } catch (VerbsException e) {
      result.completeExceptionally(e);
    }
  }

  private void fail(int errno, String reason) {
    result.completeExceptionally(new VerbsException("rdma_connect(" + what + ")", errno, reason));
  }
}
