// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.verbs;

import dev.sluice.verbs.VerbsException;
import dev.sluice.verbs.cm.RdmaCmEvent;
import dev.sluice.verbs.cm.RdmaCmId;
import dev.sluice.verbs.cm.RdmaConnParam;
import dev.sluice.verbs.ibv.IbvEce;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/**
 * One attempt to connect: it resolves the address, then the route, then sends the request. The
 * result is the id, once the peer has accepted. The thread of {@link CmAgent} creates it and alone
 * uses it, except for the result: any thread may complete that to cancel the attempt, and then
 * calls {@link CmAgent#wakeUp}. {@link CmAgent} closes the id of a failed attempt; the id of a
 * connected one belongs to its queue pair.
 */
final class CmAttempt {
  private static final int ETIMEDOUT = 110;
  private static final int ECONNREFUSED = 111;

  /**
   * The peer's kernel still has a former connection of this queue pair (InfiniBand Architecture
   * Specification, volume 1, 12.6.7.2). It ends that connection, so that the next request may be
   * accepted.
   */
  private static final int STALE_CONNECTION = 10;

  private final Wish wish;
  private final RdmaCmId id;
  private boolean stale;

  /**
   * A requested connection, which may take several attempts.
   *
   * @param what names both ends, for messages
   */
  record Wish(
      String what,
      InetSocketAddress peer,
      int trafficClass,
      RdmaConnParam param,
      IbvEce ece,
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

  /** Starts to connect from one of this side's addresses. */
  void begin(InetAddress local) throws VerbsException {
    id.setTypeOfService(wish.trafficClass());
    id.resolveAddr(new InetSocketAddress(local, 0), wish.peer(), (int) leftMs());
  }

  /** Returns true if another id may succeed a moment later. */
  boolean isStale() {
    return stale;
  }

  /**
   * Returns true if nothing waits for this attempt any more. Fails the result once the deadline has
   * passed.
   */
  boolean isOver() {
    if (leftMs() == 0) {
      wish.fail(ETIMEDOUT, "not connected in time");
    }
    return stale || wish.result().isDone();
  }

  boolean isConnected() {
    return wish.result().isDone() && !wish.result().isCompletedExceptionally();
  }

  /** Takes the next step. */
  void proceed(RdmaCmEvent event) {
    try {
      switch (event.type().known().orElse(null)) {
        case ADDR_RESOLVED -> id.resolveRoute((int) leftMs());
        case ROUTE_RESOLVED -> {
          Ece.request(id, wish.ece());
          id.connect(wish.param());
        }
        case CONNECT_RESPONSE -> wish.result().complete(id);
        case REJECTED -> rejected(event.status());
        case null -> {
          // Events of later releases are ignored; the deadline still holds.
        }
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
      wish.fail(ECONNREFUSED, "the peer refused the request, reason " + reason);
    }
  }
}
