package dev.sluice.blocks;

import dev.sluice.blocks.wire.MapOutputLocation;

/**
 * Learns which map outputs can be READ, in order to publish them. Called on the registry's thread
 * with no lock held; must not block. A shuffle that is unregistered is not announced: whoever
 * unregisters it knows.
 */
public interface MapOutputListener {
  /** Nothing is published: readers ask for locations. */
  MapOutputListener NONE =
      new MapOutputListener() {
        @Override
        public void registered(int shuffleId, MapOutputLocation location) {}

        @Override
        public void withdrawn(int shuffleId) {}
      };

  /** The map output can be READ. By the time of the call its shuffle may be unregistered again. */
  void registered(int shuffleId, MapOutputLocation location);

  /**
   * All locations of the shuffle that were announced so far will soon be stale: it makes room for
   * others. Those that are kept after all are announced again.
   */
  void withdrawn(int shuffleId);
}
