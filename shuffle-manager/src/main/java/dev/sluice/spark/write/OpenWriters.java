// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.write;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Number of map tasks of this executor that are writing, by shuffle. {@link
 * RegisteringShuffleWriter}s count on map tasks' threads; the publisher's thread reads it, without
 * a lock. Each writer counts once and ends once, or the publisher lingers in vain.
 */
public final class OpenWriters {
  private final Map<Integer, Integer> counts = new ConcurrentHashMap<>();

  void opened(int shuffleId) {
    counts.merge(shuffleId, 1, Integer::sum);
  }

  void closed(int shuffleId) {
    counts.computeIfPresent(shuffleId, (_, count) -> count == 1 ? null : count - 1);
  }

  /** Returns true if another map output of the shuffle can be expected soon. */
  public boolean any(int shuffleId) {
    return counts.containsKey(shuffleId);
  }
}
