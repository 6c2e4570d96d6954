package dev.sluice.rdma.transfer;

/**
 * Keeps a bad path from being tried again and again: opens after so many failures in a row, and
 * after a while lets one request through as a probe, whose outcome closes it or opens it again.
 * Belongs to one peer; guarded by whatever holds it.
 */
public final class CircuitBreaker {
  /** A failure is forgotten when so many cooldowns have passed without another one. */
  private static final int MEMORY_COOLDOWNS = 10;

  private final int maxFailures;
  private final long cooldownNanos;
  private int failures;
  private boolean open;
  private boolean probing;
  private long openUntilNanos;
  private long failedNanos;

  /**
   * @param maxFailures in a row
   * @param cooldownNanos for which it stays open
   */
  public CircuitBreaker(int maxFailures, long cooldownNanos) {
    this.maxFailures = maxFailures;
    this.cooldownNanos = cooldownNanos;
  }

  /** Whether a new request may be tried; the one that gets through an open breaker is the probe. */
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

  /** Whether the peer is not to be tried; false while the probe is under way. */
  boolean isOpen() {
    return open && !probing;
  }

  /** Whether nothing speaks against the peer, or nothing has for long. */
  boolean isClear(long nowNanos) {
    boolean never = !open && failures == 0;
    return never || (!probing && nowNanos - failedNanos >= MEMORY_COOLDOWNS * cooldownNanos);
  }

  /** The peer answered. */
  public void succeeded() {
    failures = 0;
    open = false;
    probing = false;
  }

  /**
   * @return whether this failure opened it
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

  /** A probe that ended without an answer of the peer counts as failed. */
  public void probeEnded(long nowNanos) {
    if (probing) {
      failed(nowNanos);
    }
  }
}
