package dev.sluice.spark.write;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** How many map tasks of this executor are writing, by shuffle. Any thread. */
public final class OpenWriters {
  private final Map<Integer, Integer> counts = new ConcurrentHashMap<>();

  void opened(int shuffleId) {
    counts.merge(shuffleId, 1, Integer::sum);
  }

  void closed(int shuffleId) {
    counts.computeIfPresent(shuffleId, (_, count) -> count == 1 ? null : count - 1);
  }

  /** Whether another map output of the shuffle is to be expected soon. */
  public boolean any(int shuffleId) {
    return counts.containsKey(shuffleId);
  }
}
