// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.transfer;

/**
 * Keeps a bad path from being tried again and again. Opens after a number of failures in a row.
 * After a cooldown it lets one request through as a probe, whose outcome closes or reopens it.
 * Belongs to one peer. Its owner guards it: the engine's thread for READs, a lock for requests to
 * stage. After {@link #admits}, the outcome is reported by one of {@link #succeeded}, {@link
 * #failed} and {@link #probeEnded}, or a probe would last for ever.
 */
public final class CircuitBreaker {
  /** Number of cooldowns without a failure after which earlier failures are forgotten. */
  private static final int MEMORY_COOLDOWNS = 10;

  private final int maxFailures;
  private final long cooldownNanos;
  private int failures;
  private boolean open;
  private boolean probing;
  private long openUntilNanos;
  private long failedNanos;

  /**
   * @param maxFailures failures in a row that open it
   * @param cooldownNanos time for which it stays open
   */
  public CircuitBreaker(int maxFailures, long cooldownNanos) {
    this.maxFailures = maxFailures;
    this.cooldownNanos = cooldownNanos;
  }

  /** True if a new request may be tried. A request admitted by an open breaker is the probe. */
  public boolean admits(long nowNanos) {
    if (!open) {
      return true;
    }
    if (probing || nowNanos - openUntilNanos < 0) {
      return false;
    }
    probing = true;
    return true;
  }

  /** True if the peer must not be tried; false while the probe is outstanding. */
  boolean isOpen() {
    return open && !probing;
  }

  /** True if the peer has no failures, or none for a long time. */
  boolean isClear(long nowNanos) {
    boolean never = !open && failures == 0;
    return never || (!probing && nowNanos - failedNanos >= MEMORY_COOLDOWNS * cooldownNanos);
  }

  /** Reports an answer of the peer. */
  public void succeeded() {
    failures = 0;
    open = false;
    probing = false;
  }

  /**
   * @return true if this failure opened it
   */
  public boolean failed(long nowNanos) {
    failures++;
    failedNanos = nowNanos;
    if (probing || (!open && failures >= maxFailures)) {
      open = true;
      probing = false;
      openUntilNanos = nowNanos + cooldownNanos;
      return true;
    }
    return false;
  }

  /** Reports the end of a request. A probe without an answer of the peer counts as failed. */
  public void probeEnded(long nowNanos) {
    if (probing) {
      failed(nowNanos);
    }
  }
}
