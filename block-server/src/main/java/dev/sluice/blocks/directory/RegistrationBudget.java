// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.directory;

import dev.sluice.rdma.PageSize;
import dev.sluice.rdma.transfer.CircuitBreaker;
import dev.sluice.rdma.transfer.Counters;
import java.util.function.LongSupplier;

/**
 * Counts registered bytes and regions against their limits. Each {@code MapOutputRegistry} creates
 * one, and {@code RegistrationForecast} one that registers nothing. {@code ShuffleMemory} takes
 * from it and gives back, the {@code Registrar} asks for room, and {@code ShuffleOutputs} reports
 * refusals. Any thread; this guards all fields that change. Each reserved cost must be released
 * once.
 *
 * <p>The provider may have a lower limit, which shows when it refuses. A refusal may last, as with
 * RLIMIT_MEMLOCK, or pass, as with a shortage of memory. The amount that was registered at the
 * refusal is therefore the limit for a while: of regions if the refused cost had no bytes, else of
 * bytes. After that more is tried again.
 */
public final class RegistrationBudget {
  private final Counters<RegistryCounter> counters;
  private final LongSupplier clockMs;
  private final long maxBytes;
  private final int maxRegions;
  private final CircuitBreaker refusals = CircuitBreaker.backoff();

  /** Limits after the last refusal, for as long as {@link #refusals} is open. */
  private long refusedBytes;

  private int refusedRegions;

  private long bytes;
  private int regions;

  public RegistrationBudget(
      RegistryLimits limits, Counters<RegistryCounter> counters, LongSupplier clockMs) {
    this(new Cost(limits.maxBytes(), limits.maxRegions()), counters, clockMs);
  }

  /**
   * @param limit most bytes and regions at a time
   */
  public RegistrationBudget(Cost limit, Counters<RegistryCounter> counters, LongSupplier clockMs) {
    this.counters = counters;
    this.clockMs = clockMs;
    maxBytes = limit.bytes();
    maxRegions = limit.regions();
    refusedBytes = maxBytes;
    refusedRegions = maxRegions;
  }

  private long limitBytes() {
    return refusals.isOpen(clockMs.getAsLong()) ? Math.min(maxBytes, refusedBytes) : maxBytes;
  }

  private int limitRegions() {
    return refusals.isOpen(clockMs.getAsLong()) ? refusedRegions : maxRegions;
  }

  /** Returns true if the cost would fit if nothing else were registered. */
  public synchronized boolean canEverFit(Cost cost) {
    return cost.bytes() <= limitBytes() && cost.regions() <= limitRegions();
  }

  /**
   * Returns true if there is room for the cost.
   *
   * @param leaving cost that is released before this cost is taken
   */
  public synchronized boolean fits(Cost cost, Cost leaving) {
    return cost.bytes() <= limitBytes() - bytes + leaving.bytes()
        && cost.regions() <= limitRegions() - regions + leaving.regions();
  }

  /**
   * Returns true if more than three quarters are used: the next map output might find no room.
   *
   * @param leaving cost of withdrawn shuffles, which is released soon
   */
  public synchronized boolean isTight(Cost leaving) {
    long limit = limitBytes();
    int most = limitRegions();
    return bytes - leaving.bytes() > limit - limit / 4
        || regions - leaving.regions() > most - most / 4;
  }

  /**
   * Takes the whole cost, or nothing.
   *
   * @throws NoRoomException if that much is not left
   */
  public synchronized void reserve(Cost cost) throws NoRoomException {
    if (!fits(cost, Cost.NONE)) {
      throw new NoRoomException(
          "registering needs %d bytes and %d regions, but %s"
              .formatted(cost.bytes(), cost.regions(), this),
          cost);
    }
    change(cost.bytes(), cost.regions());
  }

  public synchronized void release(Cost cost) {
    change(-cost.bytes(), -cost.regions());
  }

  /**
   * Lowers the limit after the provider refused the cost that was reserved last, and that still is.
   * Until the provider may be tried again, the amount without this cost is the limit: {@link
   * #reserve} fails before a file is mapped in vain.
   */
  public synchronized void refused(Cost cost) {
    boolean hasBytes = cost.bytes() > 0;
    refusedBytes = hasBytes ? bytes - cost.bytes() : maxBytes;
    refusedRegions = hasBytes ? maxRegions : regions - cost.regions();
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
        .formatted(bytes, limitBytes(), regions, limitRegions());
  }

  /** Thrown if the budget lacks room for a cost. Idle shuffles may have to make way. */
  public static final class NoRoomException extends RegistrationUnavailableException {
    private static final long serialVersionUID = 1L;

    private final transient Cost cost;

    private NoRoomException(String message, Cost cost) {
      super(message);
      this.cost = cost;
    }

    public Cost cost() {
      return cost;
    }
  }

  /**
   * Cost of a registration.
   *
   * @param bytes in whole pages, as the kernel maps and pins them
   * @param regions memory regions, each a mapping or an open file of its own
   */
  public record Cost(long bytes, int regions) {
    public static final Cost NONE = new Cost(0, 0);

    /** Cost of an open file, or of a mapping that pins nothing: the page cache owns the pages. */
    public static final Cost NO_MEMORY = new Cost(0, 1);

    public static Cost region(long bytes) {
      return bytes == 0 ? NONE : new Cost(PageSize.roundUp(bytes), 1);
    }

    public Cost plus(Cost other) {
      return new Cost(bytes + other.bytes, regions + other.regions);
    }

    public Cost minus(Cost other) {
      return new Cost(bytes - other.bytes, regions - other.regions);
    }
  }
}
