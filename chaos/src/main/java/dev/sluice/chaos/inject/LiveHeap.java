// SPDX-License-Identifier: Apache-2.0
package dev.sluice.chaos.inject;

import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.lang.management.MemoryType;
import java.lang.management.MemoryUsage;
import java.util.Objects;

/**
 * Measures the live objects in this JVM's heap. The agent's thread calls it in executors, the main
 * thread in the driver; it collects no garbage.
 */
public final class LiveHeap {
  private LiveHeap() {}

  /** Returns the bytes in use after the last collection of each memory pool. */
  public static long bytes() {
    return ManagementFactory.getMemoryPoolMXBeans().stream()
        .filter(pool -> pool.getType() == MemoryType.HEAP)
        .map(MemoryPoolMXBean::getCollectionUsage)
        .filter(Objects::nonNull)
        .mapToLong(MemoryUsage::getUsed)
        .sum();
  }
}
