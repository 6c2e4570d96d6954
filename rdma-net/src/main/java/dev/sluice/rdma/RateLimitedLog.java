// SPDX-License-Identifier: Apache-2.0
package dev.sluice.rdma;

import java.time.Duration;
import java.util.LinkedHashMap;

/**
 * Limits the warnings about events that may happen often, for each key on its own. The first event
 * is logged at once, later ones at most once in an interval with their number. It remembers a
 * limited number of keys, and forgets the one without an event for longest. Any thread; the caller
 * writes the log.
 */
public final class RateLimitedLog {
  private static final Object ONLY_KEY = "";

  private static final class Warning {
    long saidNanos;
    long unsaid;
  }

  private final long intervalNanos;
  private final int maxKeys;

  /** By key, in the order of their last events. */
  private final LinkedHashMap<Object, Warning> warnings = new LinkedHashMap<>(16, 0.75f, true);

  /** Logs one kind of event once a minute. */
  public RateLimitedLog() {
    this(Duration.ofMinutes(1), 1);
  }

  public RateLimitedLog(Duration interval, int maxKeys) {
    this.intervalNanos = interval.toNanos();
    this.maxKeys = maxKeys;
  }

  /** Counts an event of the only kind, as the other method does. */
  public long add(long nowNanos) {
    return add(ONLY_KEY, nowNanos);
  }

  /** Counts an event. Returns the number since the last warning if one is due, else 0. */
  public synchronized long add(Object key, long nowNanos) {
    Warning warning = warnings.get(key);
    if (warning == null) {
      if (warnings.size() == maxKeys) {
        warnings.pollFirstEntry();
      }
      warning = new Warning();
      warnings.put(key, warning);
    } else if (nowNanos - warning.saidNanos < intervalNanos) {
      warning.unsaid++;
      return 0;
    }
    long count = warning.unsaid + 1;
    warning.unsaid = 0;
    warning.saidNanos = nowNanos;
    return count;
  }
}
