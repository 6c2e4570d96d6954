// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.registry;

import dev.sluice.blocks.wire.MapOutputLocation;

/**
 * Learns which map outputs can be READ, in order to publish them. Called one at a time, on threads
 * of the registry; must not block. It is not told of unregistered shuffles: their caller knows. An
 * executor's publisher implements it; a node daemon has {@link #NONE}.
 */
public interface MapOutputListener {
  /** Publishes nothing: readers ask for locations. */
  MapOutputListener NONE =
      new MapOutputListener() {
        @Override
        public void registered(int shuffleId, MapOutputLocation location) {}

        @Override
        public void withdrawn(int shuffleId) {}
      };

  /** Tells that the map output can be READ. Its shuffle may be unregistered again by this time. */
  void registered(int shuffleId, MapOutputLocation location);

  /**
   * Tells that all locations of the shuffle so far will soon be stale, because it makes room for
   * others. Locations that stay valid after all are told again.
   */
  void withdrawn(int shuffleId);
}
