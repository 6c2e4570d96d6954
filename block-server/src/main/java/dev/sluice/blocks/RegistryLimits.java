package dev.sluice.blocks;

/**
 * Limits of a {@link MapOutputRegistry}.
 *
 * @param maxBytes budget of registered memory, data and partition tables together, counted in whole
 *     pages; open files take none, nor does what is paged on demand
 * @param tableBytes partition tables alone are registered, and their data staged, where there is no
 *     room for both: up to {@code maxBytes} in all, or so many bytes where that is less; 0 to
 *     register both or neither
 * @param maxRegions memory regions at most: each is a mapping or an open file too, so this is the
 *     registry's share of vm.max_map_count or of the file descriptors
 * @param idleMs a shuffle that nobody READ for so long may be deregistered in favour of another
 * @param pinned whether registered pages are pinned and count against RLIMIT_MEMLOCK (verbs)
 */
public record RegistryLimits(
    long maxBytes, long tableBytes, int maxRegions, long idleMs, boolean pinned) {
  public RegistryLimits {
    if (maxBytes < 0 || tableBytes < 0 || maxRegions < 0 || idleMs < 0) {
      throw new IllegalArgumentException(
          "Limits must not be negative: maxBytes %d, tableBytes %d, maxRegions %d, idleMs %d"
              .formatted(maxBytes, tableBytes, maxRegions, idleMs));
    }
  }

  /** Whether nothing is registered at all. */
  boolean isNone() {
    return maxBytes == 0 && tableBytes == 0;
  }
}
