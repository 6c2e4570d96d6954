// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.locate;

import java.util.LinkedHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * Keys of messages that were logged within the last ten minutes, so that each is logged once in
 * that time. It remembers a limited number of keys and forgets the oldest first. {@link
 * LocationDirectory} and {@link OtherVersions} make some, and use them under their own locks.
 */
final class LoggedKeys {
  static final long QUIET_NANOS = TimeUnit.MINUTES.toNanos(10);

  private final int maxKeys;
  private final LongSupplier nanoClock;

  /** Time at which each key was logged, in that order. */
  private final LinkedHashMap<String, Long> loggedNanos = new LinkedHashMap<>();

  LoggedKeys(int maxKeys, LongSupplier nanoClock) {
    this.maxKeys = maxKeys;
    this.nanoClock = nanoClock;
  }

  /** Returns true if the key's message is to be logged now. */
  boolean add(String key) {
    long nowNanos = nanoClock.getAsLong();
    Long last = loggedNanos.get(key);
    if (last != null && nowNanos - last < QUIET_NANOS) {
      return false;
    }
    loggedNanos.remove(key); // It becomes the newest.
    if (loggedNanos.size() == maxKeys) {
      loggedNanos.pollFirstEntry();
    }
    loggedNanos.put(key, nowNanos);
    return true;
  }
}
