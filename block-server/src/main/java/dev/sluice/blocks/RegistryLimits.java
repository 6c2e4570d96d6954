package dev.sluice.blocks;

/**
 * Limits of a {@link MapOutputRegistry}.
 *
 * @param maxBytes budget of registered bytes, mapped or copied, data and partition tables together,
 *     counted in whole pages; 0 registers nothing
 * @param maxRegions memory regions at most: each is a mapping too, so this is the registry's share
 *     of vm.max_map_count
 * @param idleMs a shuffle that nobody READ for so long may be deregistered in favour of another
 * @param pinned whether registered pages are pinned and count against RLIMIT_MEMLOCK (verbs)
 */
public record RegistryLimits(long maxBytes, int maxRegions, long idleMs, boolean pinned) {
  public RegistryLimits {
    if (maxBytes < 0 || maxRegions < 0 || idleMs < 0) {
      throw new IllegalArgumentException(
          "Limits must not be negative: maxBytes %d, maxRegions %d, idleMs %d"
              .formatted(maxBytes, maxRegions, idleMs));
    }
  }
}
