package dev.sluice.rdma.transfer;

/**
 * When something that failed may be tried again: after a pause that doubles with each failure in a
 * row, which is one that comes soon after the pause. What else fails within a pause has the same
 * cause, and changes nothing. Any thread.
 */
public final class Backoff {
  public static final long FIRST_MS = 10_000;
  public static final long MAX_MS = 600_000;

  /** 0 as long as nothing failed. */
  private long pauseMs;

  private long failedMs;

  /**
   * It has failed.
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

  /** Whether it may be tried (again). */
  public synchronized boolean isOver(long nowMs) {
    return pauseMs == 0 || nowMs - failedMs >= pauseMs;
  }
}
