package dev.sluice.blocks;

/** How much may be registered, and how much is. Any thread. */
final class RegistrationBudget {
  private final RegistryCounters counters;
  private final int maxRegions;
  private long maxBytes;
  private long bytes;
  private int regions;

  RegistrationBudget(RegistryLimits limits, RegistryCounters counters) {
    this.counters = counters;
    maxBytes = limits.maxBytes();
    maxRegions = limits.maxRegions();
  }

  /** Whether it would fit if nothing else were registered. */
  synchronized boolean canEverFit(Cost cost) {
    return cost.bytes() <= maxBytes && cost.regions() <= maxRegions;
  }

  /** Takes all of it, or nothing. */
  synchronized boolean reserve(Cost cost) {
    if (cost.bytes() > maxBytes - bytes || cost.regions() > maxRegions - regions) {
      return false;
    }
    change(cost.bytes(), cost.regions());
    return true;
  }

  synchronized void release(Cost cost) {
    change(-cost.bytes(), -cost.regions());
  }

  /**
   * The provider cannot register as much as is reserved now, so its limit is below ours: from now
   * on less than that is the budget, and files are not mapped for nothing.
   */
  synchronized void lowerBelowUse() {
    maxBytes = bytes - 1;
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
        .formatted(bytes, maxBytes, regions, maxRegions);
  }

  /**
   * What something costs.
   *
   * @param bytes in whole pages, as the kernel maps and pins them
   * @param regions memory regions, each a mapping of its own
   */
  record Cost(long bytes, int regions) {
    static final Cost NONE = new Cost(0, 0);

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
  }
}
