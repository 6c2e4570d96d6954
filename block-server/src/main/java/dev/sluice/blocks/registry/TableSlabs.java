// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.registry;

import dev.sluice.blocks.directory.RegistrationBudget.Cost;
import dev.sluice.rdma.PageSize;

/**
 * Sizes of a shuffle's slabs, from which segments of partition tables are carved. Slabs grow from
 * 16 KiB, or a larger page, to 1 MiB, so that many small shuffles cost little, and several segments
 * of a large shuffle share a region. {@link ShuffleMemory} allocates the slabs, with its owner's
 * lock held; {@link RegistrationForecast} only counts them.
 */
final class TableSlabs {
  private static final long MIN_BYTES = 16 << 10;
  private static final long MAX_BYTES = 1 << 20;

  /** Rest of the last slab. */
  private long freeBytes;

  private long nextBytes = MIN_BYTES;

  /** Returns the cost of a segment: that of a new slab, or none if it fits in the last one. */
  Cost cost(long bytes) {
    return fits(bytes) ? Cost.NONE : Cost.region(newSlabBytes(bytes));
  }

  boolean fits(long bytes) {
    return bytes <= freeBytes;
  }

  /** Returns the size of a new slab that begins with a segment. */
  long newSlabBytes(long bytes) {
    return PageSize.roundUp(Math.max(nextBytes, bytes));
  }

  /** Adds a new slab, from which segments are carved from now on. */
  void add(long slabBytes) {
    freeBytes = slabBytes;
    nextBytes = Math.min(2 * nextBytes, MAX_BYTES);
  }

  /** Takes a segment that fits from the last slab. Returns the rest before it. */
  long take(long bytes) {
    long before = freeBytes;
    freeBytes -= bytes;
    return before;
  }
}
