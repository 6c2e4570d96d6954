// SPDX-License-Identifier: Apache-2.0
package dev.sluice.verbs;

import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.lang.management.MemoryType;
import java.lang.management.MemoryUsage;
import java.util.Objects;

/** Live objects of this JVM, for tests that look for leaks. */
public final class LiveHeap {
  private LiveHeap() {}

  /**
   * Collects the garbage, and returns the bytes that were in use right after the collection. The
   * bytes in use at the time of the call would include what other threads have allocated since:
   * some megabytes on a busy machine.
   */
  public static long bytes() {
    System.gc();
    return ManagementFactory.getMemoryPoolMXBeans().stream()
        .filter(pool -> pool.getType() == MemoryType.HEAP)
        .map(MemoryPoolMXBean::getCollectionUsage)
        .filter(Objects::nonNull)
        .mapToLong(MemoryUsage::getUsed)
        .sum();
  }
}
