// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma.transfer;

/**
 * Pause after a failure before the next try. The pause doubles with each failure that comes within
 * twice the pause after the one before. Failures during a pause have the same cause and are
 * ignored. Memory that could not be registered, and files or directories that failed, are tried
 * again by it. Any thread.
 */
public final class Backoff {
  /** Pause after a failure that does not follow another one. */
  public static final long FIRST_MS = 10_000;

  /** Limit of the doubled pause. */
  public static final long MAX_MS = 600_000;

  /** 0 until something fails. */
  private long pauseMs;

  private long failedMs;

  /**
   * Reports a failure.
   *
   * @param nowMs on a monotonic clock, in milliseconds
   */
  public synchronized void failed(long nowMs) {
    if (!isOver(nowMs)) {
      return;
    }
    boolean inARow = nowMs - failedMs <= 2 * pauseMs;
    pauseMs = inARow ? Math.clamp(2 * pauseMs, FIRST_MS, MAX_MS) : FIRST_MS;
    failedMs = nowMs;
  }

  /** True if a try is allowed. */
  public synchronized boolean isOver(long nowMs) {
    return pauseMs == 0 || nowMs - failedMs >= pauseMs;
  }
}
