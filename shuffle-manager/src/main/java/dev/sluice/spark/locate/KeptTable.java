// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.locate;

import static java.util.Objects.requireNonNull;

import dev.sluice.spark.locate.DirectoryMessage.Kept;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * Map outputs that end with their executors, although Spark was told that map outputs outlive their
 * executors. The {@link LocationDirectory} has one and uses it under its lock. It costs some 50
 * bytes a map output, and is empty if nodes take all of them.
 */
final class KeptTable {
  /** Map ids by shuffle, by executor. */
  private final Map<String, Map<Integer, Set<Long>>> byExecutor = new HashMap<>();

  /** Executors of this table that are lost. */
  private final Set<String> gone = new HashSet<>();

  /**
   * @param isGone true if the executor was lost before its message arrived
   */
  void add(Kept kept, boolean isGone) {
    byExecutor
        .computeIfAbsent(kept.executorId(), _ -> new TreeMap<>())
        .computeIfAbsent(kept.shuffleId(), _ -> new HashSet<>())
        .add(kept.mapId());
    if (isGone) {
      gone.add(kept.executorId());
    }
  }

  /** Marks an executor as lost; its kept map outputs are remembered until {@link #removeAll}. */
  void executorLost(String executorId) {
    if (byExecutor.containsKey(executorId)) {
      gone.add(executorId);
    }
  }

  /** Removes a shuffle that is over. */
  void remove(int shuffleId) {
    byExecutor.values().forEach(shuffles -> shuffles.remove(shuffleId));
    byExecutor.values().removeIf(Map::isEmpty);
    gone.retainAll(byExecutor.keySet());
  }

  /** Removes lost executors, after all their map outputs were unregistered. */
  void removeAll(Collection<String> executorIds) {
    executorIds.forEach(byExecutor::remove);
    executorIds.forEach(gone::remove);
  }

  /** Returns a copy of the map outputs of lost executors, by executor and shuffle. */
  Map<String, Map<Integer, Set<Long>>> ofGone() {
    Map<String, Map<Integer, Set<Long>>> copies = new HashMap<>();
    for (String executorId : gone) {
      Map<Integer, Set<Long>> copy = new TreeMap<>();
      requireNonNull(byExecutor.get(executorId))
          .forEach((shuffleId, mapIds) -> copy.put(shuffleId, Set.copyOf(mapIds)));
      copies.put(executorId, copy);
    }
    return copies;
  }
}
