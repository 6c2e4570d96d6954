package dev.sluice.blocks;

import dev.sluice.rdma.transfer.Backoff;
import java.util.function.LongSupplier;

/**
 * How much may be registered, and how much is. Any thread.
 *
 * <p>The provider may have a lower limit, which shows when it refuses: one that lasts, as
 * RLIMIT_MEMLOCK does, or one that passes, as a shortage of memory. So what was registered then is
 * the limit for a while, and after that more is tried again.
 */
final class RegistrationBudget {
  private final RegistryCounters counters;
  private final LongSupplier clockMs;
  private final long maxBytes;
  private final int maxRegions;
  private final Backoff refusals = new Backoff();

  /** Where the provider refused last. */
  private long refusedBytes;

  private long bytes;
  private int regions;

  RegistrationBudget(RegistryLimits limits, RegistryCounters counters, LongSupplier clockMs) {
    this.counters = counters;
    this.clockMs = clockMs;
    maxBytes = limits.maxBytes();
    maxRegions = limits.maxRegions();
    refusedBytes = maxBytes;
  }

  private long limitBytes() {
    boolean isRefused = !refusals.isOver(clockMs.getAsLong());
    return isRefused ? Math.min(maxBytes, refusedBytes) : maxBytes;
  }

  /** Whether it would fit if nothing else were registered. */
  synchronized boolean canEverFit(Cost cost) {
    return cost.bytes() <= limitBytes() && cost.regions() <= maxRegions;
  }

  /**
   * Whether there is room for it.
   *
   * @param leaving what will have been released by then
   */
  synchronized boolean fits(Cost cost, Cost leaving) {
    return cost.bytes() <= limitBytes() - bytes + leaving.bytes()
        && cost.regions() <= maxRegions - regions + leaving.regions();
  }

  /**
   * Whether three quarters are used up, so that what comes next might find no room.
   *
   * @param leaving what will have been released by then
   */
  synchronized boolean isTight(Cost leaving) {
    long limit = limitBytes();
    return bytes - leaving.bytes() > limit - limit / 4
        || regions - leaving.regions() > maxRegions - maxRegions / 4;
  }

  /** Takes all of it, or nothing. */
  synchronized boolean reserve(Cost cost) {
    if (!fits(cost, Cost.NONE)) {
      return false;
    }
    change(cost.bytes(), cost.regions());
    return true;
  }

  synchronized void release(Cost cost) {
    change(-cost.bytes(), -cost.regions());
  }

  /**
   * The provider cannot register what was reserved last, so its limit is below ours: until that can
   * be tried again what is beside it is all that fits, and files are not mapped for nothing.
   */
  synchronized void refused(Cost cost) {
    refusedBytes = bytes - cost.bytes();
    refusals.failed(clockMs.getAsLong());
  }

  private void change(long moreBytes, int moreRegions) {
    bytes += moreBytes;
    regions += moreRegions;
    counters.add(RegistryCounter.REGISTERED_BYTES, moreBytes);
    counters.add(RegistryCounter.REGISTERED_REGIONS, moreRegions);
  }

  @Override
  public synchronized String toString() {
    return "%d of %d bytes and %d of %d regions are in use"
        .formatted(bytes, limitBytes(), regions, maxRegions);
  }

  /**
   * What something costs.
   *
   * @param bytes in whole pages, as the kernel maps and pins them
   * @param regions memory regions, each a mapping or an open file of its own
   */
  record Cost(long bytes, int regions) {
    static final Cost NONE = new Cost(0, 0);

    /** A mapping that pins nothing, or an open file: the pages belong to the page cache. */
    static final Cost NO_MEMORY = new Cost(0, 1);

    static final long PAGE_BYTES = 4096;

    static Cost region(long bytes) {
      return bytes == 0 ? NONE : new Cost(wholePages(bytes), 1);
    }

    static long wholePages(long bytes) {
      return (bytes + PAGE_BYTES - 1) & -PAGE_BYTES;
    }

    Cost plus(Cost other) {
      return new Cost(bytes + other.bytes, regions + other.regions);
    }

    Cost minus(Cost other) {
      return new Cost(bytes - other.bytes, regions - other.regions);
    }
  }
}
