// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.transfer;

/**
 * Keeps what has failed from being tried again and again: READs from a peer, requests to it, a node
 * daemon, memory, a file. Each has a breaker of its own.
 *
 * <p>A breaker opens after a number of failures in a row. Failures while it is open have the same
 * cause as the one before, so they are ignored. After a pause {@link #admits} lets one caller
 * through as a probe, whose outcome closes or reopens the breaker. A caller that was admitted
 * reports its outcome by one of {@link #succeeded}, {@link #failed} and {@link #probeEnded}, or a
 * probe would last for ever. A breaker of {@link #pausing} or {@link #backoff} is open during the
 * pause alone: after it, callers that ask {@link #isOpen} may all try again.
 *
 * <p>The caller decides what is a failure. Any thread. All times of a breaker are on one monotonic
 * clock, in the unit of its pause.
 */
public final class CircuitBreaker {
  /** First pause of {@link #backoff}. */
  public static final long FIRST_MS = 10_000;

  /** Limit of the pauses of {@link #backoff}. */
  public static final long MAX_MS = 600_000;

  /** Number of pauses without a failure after which earlier failures are forgotten. */
  private static final int MEMORY_PAUSES = 10;

  private final int maxFailures;
  private final long firstPause;
  private final long maxPause;

  /** True if the breaker stays open after its pause until a probe is admitted. */
  private final boolean awaitsProbe;

  /** Failures in a row. */
  private int failures;

  /** Successes and failures that counted. */
  private int outcomes;

  private boolean probing;
  private long failedAt;
  private long pause;

  /**
   * Makes a breaker that stays open until a probe is admitted.
   *
   * @param maxFailures failures in a row that open it
   * @param pause time until it admits a probe
   */
  public CircuitBreaker(int maxFailures, long pause) {
    this(maxFailures, pause, pause, true);
  }

  private CircuitBreaker(int maxFailures, long firstPause, long maxPause, boolean awaitsProbe) {
    this.maxFailures = maxFailures;
    this.firstPause = firstPause;
    this.maxPause = maxPause;
    this.awaitsProbe = awaitsProbe;
    pause = firstPause;
  }

  /** Returns a breaker that a failure opens for a pause. */
  public static CircuitBreaker pausing(long pause) {
    return new CircuitBreaker(1, pause, pause, false);
  }

  /**
   * Returns a breaker for memory and files, with times in milliseconds. A failure opens it for a
   * pause, which doubles with each failure within twice the pause after the one before.
   */
  public static CircuitBreaker backoff() {
    return new CircuitBreaker(1, FIRST_MS, MAX_MS, false);
  }

  /** Returns true if the caller may try. A caller that is admitted after the pause is the probe. */
  public synchronized boolean admits(long now) {
    if (isBlocked(now)) {
      return false;
    }
    probing = !isClosed();
    return true;
  }

  /** Returns true during the pause and while a probe is under way: no other caller may try. */
  public synchronized boolean isBlocked(long now) {
    return !isClosed() && (probing || now - failedAt < pause);
  }

  /**
   * Returns true if only the next probe may try, or without probes, during the pause. False while a
   * probe is under way.
   */
  public synchronized boolean isOpen(long now) {
    return !isClosed() && !probing && (awaitsProbe || now - failedAt < pause);
  }

  /** Returns true if fewer failures in a row have come than open it. */
  public synchronized boolean isClosed() {
    return failures < maxFailures;
  }

  /** Returns true if there was no failure, or none for a long time. */
  public synchronized boolean isClear(long now) {
    return failures == 0 || (!probing && now - failedAt >= MEMORY_PAUSES * pause);
  }

  /** Returns the number of outcomes so far, for {@link #failed(int, long)}. */
  public synchronized int outcomes() {
    return outcomes;
  }

  /** Reports a success, which closes the breaker. */
  public synchronized void succeeded() {
    failures = 0;
    outcomes++;
    probing = false;
  }

  /**
   * Reports a failure.
   *
   * @return true if it opened the breaker
   */
  public synchronized boolean failed(long now) {
    if (isOpen(now)) {
      return false;
    }
    boolean inARow = !isClosed() && now - failedAt <= 2 * pause;
    failures++;
    outcomes++;
    probing = false;
    failedAt = now;
    pause = inARow ? Math.min(2 * pause, maxPause) : firstPause;
    return !isClosed();
  }

  /**
   * Reports the failure of a request, unless others have had an outcome meanwhile. Requests that
   * fail together have one cause, and a peer that answers some requests is overloaded at worst.
   *
   * @param outcomes number of outcomes when the request was admitted
   * @return true if it opened the breaker
   */
  public synchronized boolean failed(int outcomes, long now) {
    return outcomes == this.outcomes && failed(now);
  }

  /** Reports the end of a try without an outcome. For a probe that is a failure. */
  public synchronized void probeEnded(long now) {
    if (probing) {
      failed(now);
    }
  }
}
