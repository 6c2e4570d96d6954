package dev.sluice.rdma.verbs;

import dev.sluice.rdma.VerbsException;
import dev.sluice.rdma.verbs.cm.RdmaCmEvent;
import dev.sluice.rdma.verbs.cm.RdmaCmId;
import dev.sluice.rdma.verbs.cm.RdmaConnParam;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/**
 * A connection on its way: address, route, request. Its result is the id once the peer accepted.
 * Thread of {@link CmAgent} only, but for the result, which anybody may complete to call it off.
 */
final class CmAttempt {
  private static final int ETIMEDOUT = 110;
  private static final int ECONNREFUSED = 111;

  /**
   * The peer's kernel has a connection of this queue pair that is not over for it yet (InfiniBand
   * Architecture Specification, volume 1, 12.6.7.2). It ends that one, so that the next request may
   * be accepted.
   */
  private static final int STALE_CONNECTION = 10;

  private final Wish wish;
  private final RdmaCmId id;
  private boolean stale;

  /**
   * What is wanted, in one attempt or in several.
   *
   * @param what says who connects to whom, for messages
   */
  record Wish(
      String what,
      InetSocketAddress peer,
      int trafficClass,
      RdmaConnParam param,
      long deadlineNanos,
      CompletableFuture<RdmaCmId> result) {

    long leftMs() {
      return Math.max(0, TimeUnit.NANOSECONDS.toMillis(deadlineNanos - System.nanoTime()));
    }

    void fail(int errno, String reason) {
      result.completeExceptionally(new VerbsException("rdma_connect(" + what + ")", errno, reason));
    }
  }

  CmAttempt(Wish wish, RdmaCmId id) {
    this.wish = wish;
    this.id = id;
  }

  Wish wish() {
    return wish;
  }

  RdmaCmId id() {
    return id;
  }

  long leftMs() {
    return wish.leftMs();
  }

  /** From one of this side's addresses to the peer. */
  void begin(InetAddress local) throws VerbsException {
    id.setTypeOfService(wish.trafficClass());
    id.resolveAddr(new InetSocketAddress(local, 0), wish.peer(), (int) leftMs());
  }

  /** Whether the same may succeed with another id, in a moment. */
  boolean isStale() {
    return stale;
  }

  /** Whether nobody waits for it any more; notices the deadline. */
  boolean isOver() {
    if (leftMs() == 0) {
      wish.fail(ETIMEDOUT, "not connected in time");
    }
    return stale || wish.result().isDone();
  }

  boolean isConnected() {
    return wish.result().isDone() && !wish.result().isCompletedExceptionally();
  }

  /** The next step. */
  void proceed(RdmaCmEvent event) {
    try {
      switch (event.type()) {
        case ADDR_RESOLVED -> id.resolveRoute((int) leftMs());
        case ROUTE_RESOLVED -> id.connect(wish.param());
        case CONNECT_RESPONSE -> wish.result().complete(id);
        case REJECTED -> rejected(event.status());
        default -> wish.fail(Math.abs(event.status()), event.type().toString());
      }
    } catch (VerbsException e) {
      wish.result().completeExceptionally(e);
    }
  }

  private void rejected(int reason) {
    if (reason == STALE_CONNECTION) {
      stale = true;
    } else {
      wish.fail(ECONNREFUSED, "the peer refuses, reason " + reason);
    }
  }
}
