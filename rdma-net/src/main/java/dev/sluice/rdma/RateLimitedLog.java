// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma;

import java.util.concurrent.TimeUnit;

/**
 * Limits the warnings about an event that may happen often. The first event is logged at once,
 * later ones at most once a minute with their number. A listening socket has one for each kind of
 * event. Any thread; the caller writes the log.
 */
public final class RateLimitedLog {
  private static final long INTERVAL_NANOS = TimeUnit.MINUTES.toNanos(1);

  private boolean said;
  private long saidNanos;
  private long unsaid;

  /** Counts an event. Returns the number since the last warning if one is due, else 0. */
  public synchronized long add(long nowNanos) {
    unsaid++;
    if (said && nowNanos - saidNanos < INTERVAL_NANOS) {
      return 0;
    }
    long count = unsaid;
    unsaid = 0;
    said = true;
    saidNanos = nowNanos;
    return count;
  }
}
