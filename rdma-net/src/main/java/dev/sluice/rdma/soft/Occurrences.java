package dev.sluice.rdma.soft;

import java.util.concurrent.TimeUnit;

/**
 * Counts what is worth a warning and may happen often: it is to be said the first time, and then
 * once a minute at most, with how often it was. Any thread.
 */
final class Occurrences {
  private static final long INTERVAL_NANOS = TimeUnit.MINUTES.toNanos(1);

  private boolean said;
  private long saidNanos;
  private long unsaid;

  /** It has happened once more; returns how often that was since it was said, or 0 for not now. */
  synchronized long add(long nowNanos) {
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
