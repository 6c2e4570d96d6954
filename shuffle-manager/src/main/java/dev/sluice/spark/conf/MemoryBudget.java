package dev.sluice.spark.conf;

import java.util.OptionalLong;

/**
 * What registered memory may take by default: a share of the executor's memory overhead, which is
 * what YARN and Kubernetes grant beside the heap, and never more than the container's limit leaves.
 * The machine's memory does not matter: most of it belongs to others.
 *
 * @param registrationBytes for map outputs
 * @param bufferBytes for buffers
 * @param stagingBytes for what is not registered and is asked for
 */
public record MemoryBudget(long registrationBytes, long bufferBytes, long stagingBytes) {
  /** Share of the overhead, where none is set. */
  public static final double DEFAULT_SHARE = 0.5;

  private static final long MIB = 1L << 20;

  /** Below these nothing works; an executor so small fails otherwise first. */
  private static final long LEAST_BYTES = 4 * MIB;

  /**
   * The default budget.
   *
   * @param memory what an executor has
   * @param share of the overhead ({@code spark.shuffle.rdma.memoryShare})
   * @param containerLimit bytes, as {@link Cgroup#memoryMax} finds them
   */
  public static MemoryBudget derive(
      ExecutorMemory memory, double share, OptionalLong containerLimit) {
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

  /** Whether there is no room for more than what works at all. */
  public boolean isLeast() {
    return bufferBytes <= LEAST_BYTES;
  }

  /**
   * What of it is locked at most: all. Where map outputs are paged on demand the budget is that of
   * partition tables, which are pinned.
   */
  public long lockedBytes() {
    return registrationBytes + bufferBytes + stagingBytes;
  }
}
