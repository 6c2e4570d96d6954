package dev.sluice.blocks;

import dev.sluice.blocks.wire.ControlMessages;

/**
 * Limits of a {@link MapOutputRegistry}; what finds no room within them is staged.
 *
 * @param maxBytes budget of registered memory, data and partition tables together, counted in whole
 *     pages; open files take none, nor does what is paged on demand, of which as much is resident
 *     as tables leave
 * @param maxRegions memory regions at most: each is a mapping or an open file too, so this is the
 *     registry's share of vm.max_map_count or of the file descriptors
 * @param idleMs a shuffle that nobody READ for so long may be deregistered in favour of another
 * @param resolveMs what is not registered by then a reader that asks for it does without
 */
public record RegistryLimits(long maxBytes, int maxRegions, long idleMs, long resolveMs) {
  /** Less than readers wait that are not told to wait longer. */
  private static final long RESOLVE_MS = ControlMessages.usable(10_000);

  /** Of one whose map outputs nobody may READ: it does not look at them. */
  public static final RegistryLimits OFF = new RegistryLimits(0, 0, 0);

  public RegistryLimits(long maxBytes, int maxRegions, long idleMs) {
    this(maxBytes, maxRegions, idleMs, RESOLVE_MS);
  }

  public RegistryLimits {
    if (maxBytes < 0 || maxRegions < 0 || idleMs < 0) {
      throw new IllegalArgumentException(
          "Limits must not be negative: maxBytes %d, maxRegions %d, idleMs %d"
              .formatted(maxBytes, maxRegions, idleMs));
    }
  }
}
