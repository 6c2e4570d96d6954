// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.directory;

import dev.sluice.blocks.wire.ControlMessages;

/**
 * Limits of a {@code MapOutputRegistry}. Map outputs that find no room within them are staged. An
 * executor's runtime or a node daemon makes them from its configuration. Immutable.
 *
 * @param maxBytes budget of registered memory in whole pages, data and partition tables together.
 *     Open files and memory paged on demand take none of it. As many pages of the latter may be
 *     resident as the tables leave
 * @param maxRegions maximum number of memory regions. Each is a mapping or an open file, so this is
 *     the registry's share of vm.max_map_count or of the file descriptors
 * @param idleMs time without a READ after which a shuffle may be evicted in favour of another
 * @param resolveMs maximum time that a reader's request waits for a registration
 */
public record RegistryLimits(long maxBytes, int maxRegions, long idleMs, long resolveMs) {
  /**
   * Time that a reader's request waits for a registration: shorter than readers wait by default.
   */
  public static final long RESOLVE_MS = ControlMessages.usable(10_000);

  /** Limits of a registry whose map outputs peers may not READ: it ignores them. */
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
