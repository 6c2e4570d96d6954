package dev.sluice.blocks;

import dev.sluice.rdma.transfer.Backoff;
import java.util.function.LongSupplier;

/**
 * How much may be registered, and how much is. Any thread.
 *
 * <p>The provider may have a lower limit, which shows when it refuses: one that lasts, as
 * RLIMIT_MEMLOCK does, or one that passes, as a shortage of memory. So what was registered then is
 * the limit for a while, and after that more is tried again.
 *
 * <p>Where map outputs can be staged, an eighth is for their tables alone: however full the rest
 * is, a map output that comes later can be READ.
 */
final class RegistrationBudget {
  /** One such part of bytes and of regions is for tables whose data are staged. */
  private static final int TABLE_PART = 8;

  private final RegistryCounters counters;
  private final LongSupplier clockMs;
  private final Limit data;
  private final Limit tables;
  private final Backoff refusals = new Backoff();

  /** Where the provider refused last. */
  private long refusedBytes;

  private long bytes;
  private int regions;

  RegistrationBudget(RegistryLimits limits, RegistryCounters counters, LongSupplier clockMs) {
    this.counters = counters;
    this.clockMs = clockMs;
    long maxBytes = limits.maxBytes();
    int maxRegions = limits.maxRegions();
    boolean stages = limits.tableBytes() > 0;
    data =
        stages
            ? new Limit(maxBytes - maxBytes / TABLE_PART, maxRegions - maxRegions / TABLE_PART)
            : new Limit(maxBytes, maxRegions);
    tables = new Limit(stages ? Math.max(maxBytes, limits.tableBytes()) : 0, maxRegions);
    refusedBytes = maxBytes;
  }

  private record Limit(long bytes, int regions) {}

  private Limit limit(boolean table) {
    if (table) {
      return tables;
    }
    return refusals.isOver(clockMs.getAsLong())
        ? data
        : new Limit(Math.min(data.bytes(), refusedBytes), data.regions());
  }

  /**
   * Whether it would fit if nothing else were registered.
   *
   * @param table whether it is a partition table without its data
   */
  synchronized boolean canEverFit(Cost cost, boolean table) {
    Limit limit = limit(table);
    return cost.bytes() <= limit.bytes() && cost.regions() <= limit.regions();
  }

  /**
   * Whether there is room for it.
   *
   * @param leaving what will have been released by then
   */
  synchronized boolean fits(Cost cost, Cost leaving, boolean table) {
    Limit limit = limit(table);
    return cost.bytes() <= limit.bytes() - bytes + leaving.bytes()
        && cost.regions() <= limit.regions() - regions + leaving.regions();
  }

  /**
   * Whether three quarters are used up, so that what comes next might find no room.
   *
   * @param leaving what will have been released by then
   */
  synchronized boolean isTight(Cost leaving) {
    Limit limit = limit(data.bytes() == 0);
    return bytes - leaving.bytes() > limit.bytes() - limit.bytes() / 4
        || regions - leaving.regions() > limit.regions() - limit.regions() / 4;
  }

  /** Takes all of it, or nothing. */
  synchronized boolean reserve(Cost cost, boolean table) {
    if (!fits(cost, Cost.NONE, table)) {
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
        .formatted(bytes, limit(false).bytes(), regions, limit(false).regions());
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
