package dev.sluice.blocks.client;

import dev.sluice.rdma.transfer.CircuitBreaker;
import dev.sluice.rdma.transfer.PeerAddress;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps one peer from being asked for what it has had others wait for in vain, until a probe
 * succeeds. Any thread; nothing to close.
 *
 * <p>A peer that is overloaded is to be waited for. What tells it from one that hangs is that it
 * does something: so only a request during which it has done nothing for any other counts, and
 * those that wait together count as one. What else it answers says nothing: locations and tables
 * come from other threads than copies.
 */
final class PeerBreaker {
  private static final Logger LOG = LoggerFactory.getLogger(PeerBreaker.class);

  /** Who has waited less than this in vain had no time: that says nothing of the peer. */
  private static final long IN_VAIN_MS = 1_000;

  private final PeerAddress peer;
  private final String what;
  private final CircuitBreaker breaker;
  private final LongSupplier clockMs;

  /** When the last one ended that counts. Guarded by this. */
  private long judgedMs;

  /**
   * @param what is asked for, in the words of a warning
   * @param breaker is used by this alone
   */
  PeerBreaker(PeerAddress peer, String what, CircuitBreaker breaker, LongSupplier clockMs) {
    this.peer = peer;
    this.what = what;
    this.breaker = breaker;
    this.clockMs = clockMs;
    judgedMs = clockMs.getAsLong();
  }

  /** Whether the peer may be asked; if so, {@link #judge} is told what came of it. */
  synchronized boolean admits() {
    return breaker.admits(nowNanos());
  }

  /**
   * A refusal is an answer, too, unless it took most of the time that there was.
   *
   * @param done whether there is what was asked for
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
        LOG.warn("{} had {} wait in vain, not for the first time: it is left alone", peer, what);
      }
    }
  }

  private long nowNanos() {
    return TimeUnit.MILLISECONDS.toNanos(clockMs.getAsLong());
  }
}
