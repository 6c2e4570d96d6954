// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.client;

import dev.sluice.rdma.transfer.CircuitBreaker;
import dev.sluice.rdma.transfer.PeerAddress;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Circuit breaker for one kind of request to one peer: stops requests to a peer that repeatedly
 * does not answer in time, until a probe succeeds. Each {@link PeerChannel} has two. Any thread;
 * this guards the breaker. Nothing to close.
 *
 * <p>An overloaded peer answers some requests, a hanging one none. A request therefore counts as
 * failed only if the peer has completed no other one meanwhile, and requests that fail together
 * count once. Other kinds of requests do not matter: the peer answers locations and tables on other
 * threads than it copies on.
 */
final class PeerBreaker {
  private static final Logger LOG = LoggerFactory.getLogger(PeerBreaker.class);

  /** A request that failed after a shorter wait had no time: that says nothing about the peer. */
  private static final long IN_VAIN_MS = 1_000;

  private final PeerAddress peer;
  private final String what;
  private final CircuitBreaker breaker;
  private final LongSupplier clockMs;

  /** End of the last request that counted. Guarded by this. */
  private long judgedMs;

  /**
   * @param what kind of request, in the words of a warning
   * @param breaker not used elsewhere
   */
  PeerBreaker(PeerAddress peer, String what, CircuitBreaker breaker, LongSupplier clockMs) {
    this.peer = peer;
    this.what = what;
    this.breaker = breaker;
    this.clockMs = clockMs;
    judgedMs = clockMs.getAsLong();
  }

  /** Returns true if the peer may be asked; {@link #judge} has to follow. */
  synchronized boolean admits() {
    return breaker.admits(nowNanos());
  }

  /**
   * Judges an ended request. A refusal counts as success, unless it took half of the time or more.
   *
   * @param done true if the peer gave the answer that was wanted
   */
  synchronized void judge(boolean done, long askedMs, int timeLeftMs) {
    long nowMs = clockMs.getAsLong();
    long waitedMs = nowMs - askedMs;
    if (done || waitedMs < timeLeftMs / 2) {
      judgedMs = nowMs;
      breaker.succeeded();
    } else if (waitedMs < IN_VAIN_MS) {
      breaker.probeEnded(nowNanos());
    } else if (askedMs - judgedMs >= 0) {
      judgedMs = nowMs;
      if (breaker.failed(nowNanos())) {
        LOG.warn(
            "{} repeatedly did not answer {} in time; not sending it more for some time"
                + " (spark.shuffle.rdma.circuit.cooldown)",
            peer,
            what);
      }
    }
  }

  private long nowNanos() {
    return TimeUnit.MILLISECONDS.toNanos(clockMs.getAsLong());
  }
}
