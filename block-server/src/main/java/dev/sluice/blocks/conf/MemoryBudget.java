// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.conf;

import java.util.OptionalLong;

/**
 * Default limits of registered memory. They are a share of the executor's memory overhead, which
 * YARN and Kubernetes grant in addition to the heap, and never more than the container's limit
 * leaves. The machine's memory does not matter: most of it belongs to others. {@link ExecutorConf}
 * derives it, for an executor and for the doctor. docs/configuration.md states the eighths by the
 * texts of {@link ExecutorSettings}: change both.
 *
 * @param registrationBytes limit for map outputs
 * @param bufferBytes limit for buffers
 * @param stagingBytes limit for staging blocks that are not registered
 */
public record MemoryBudget(long registrationBytes, long bufferBytes, long stagingBytes) {
  /**
   * Memory that Spark and its resource manager grant to an executor.
   *
   * @param heapBytes heap of its JVM
   * @param offHeapBytes memory that Spark itself and Python take in addition to the heap
   * @param overheadBytes memory for everything else
   */
  public record Grant(long heapBytes, long offHeapBytes, long overheadBytes) {}

  /** Default share of the overhead. */
  public static final double DEFAULT_SHARE = 0.5;

  private static final long MIB = 1L << 20;

  /** More than any executor has, and so little that sums of it do not overflow. */
  private static final long MOST_BYTES = 1L << 60;

  /** Least value of each limit. With less nothing works, and the executor fails anyway. */
  private static final long LEAST_BYTES = 4 * MIB;

  /**
   * Derives the default budget.
   *
   * @param memory memory of the executor
   * @param share share of the overhead ({@code spark.shuffle.rdma.memoryShare})
   * @param containerLimit limit in bytes, as {@link Cgroup#memoryMax} returns it
   */
  public static MemoryBudget derive(Grant memory, double share, OptionalLong containerLimit) {
    long available = memory.overheadBytes();
    if (containerLimit.isPresent()) {
      long beside = containerLimit.getAsLong() - memory.heapBytes() - memory.offHeapBytes();
      available = Math.min(available, Math.max(beside, 0));
    }
    long granted = (long) (available * share);
    return new MemoryBudget(
        Math.max(granted / 8 * 5, LEAST_BYTES),
        Math.max(granted / 4, LEAST_BYTES),
        Math.max(granted / 8, LEAST_BYTES));
  }

  /**
   * Returns the least overhead, in whole MiB, from which {@link #derive} derives these limits or
   * more; 1 EiB at most.
   *
   * @param share share of the overhead, as for {@link #derive}
   */
  public static long overheadFor(long registrationBytes, long stagingBytes, double share) {
    long eighth = Math.max(Math.ceilDiv(registrationBytes, 5), stagingBytes);
    double bytes = Math.min(eighth * 8.0 / share, MOST_BYTES);
    return Math.ceilDiv((long) Math.ceil(bytes), MIB) * MIB;
  }

  /** Returns true if the limits are the least with which anything works. */
  public boolean isLeast() {
    return bufferBytes <= LEAST_BYTES;
  }

  /**
   * Returns the most bytes of it that are locked: all. With on-demand paging of map outputs, the
   * budget is that of partition tables, which are pinned.
   */
  public long lockedBytes() {
    return registrationBytes + bufferBytes + stagingBytes;
  }
}
