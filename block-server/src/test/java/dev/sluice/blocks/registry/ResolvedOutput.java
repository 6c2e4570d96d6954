// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.registry;

import dev.sluice.blocks.wire.MapOutputHeader;
import java.util.concurrent.TimeUnit;

/** Resolves map outputs as a peer's request does. */
public final class ResolvedOutput {
  private static final long TIMEOUT_S = 30;

  private ResolvedOutput() {}

  /** Returns the header; null if the map output cannot be registered, or is gone again. */
  public static MapOutputHeader header(MapOutputRegistry registry, int shuffleId, long mapId)
      throws Exception {
    registry.resolve(shuffleId, new long[] {mapId}).get(TIMEOUT_S, TimeUnit.SECONDS);
    MapOutput output = registry.output(shuffleId, mapId);
    return output == null ? null : output.header();
  }
}
