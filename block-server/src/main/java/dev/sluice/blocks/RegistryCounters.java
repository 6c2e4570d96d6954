// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks;

import java.util.concurrent.atomic.AtomicLongArray;

/**
 * One value per {@link RegistryCounter}; written by the registry and the stager, on any thread, and
 * read by any thread.
 */
public final class RegistryCounters {
  private final AtomicLongArray values = new AtomicLongArray(RegistryCounter.values().length);

  RegistryCounters() {}

  public void add(RegistryCounter counter, long value) {
    values.addAndGet(counter.ordinal(), value);
  }

  public long get(RegistryCounter counter) {
    return values.get(counter.ordinal());
  }
}
