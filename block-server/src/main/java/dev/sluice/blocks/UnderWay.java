package dev.sluice.blocks;

import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Registrations of one shuffle that are under way, one of each map output, and who waits for them.
 * One that is not here any more is not registered: its files may be others by now. Any thread;
 * never blocks.
 */
final class UnderWay {
  private final ConcurrentHashMap<Long, Registration> registrations = new ConcurrentHashMap<>();
  private final Set<Wait> waits = ConcurrentHashMap.newKeySet();

  /** Map outputs that somebody waits for. */
  private final class Wait {
    private final long[] mapIds;
    private final CompletableFuture<Void> over = new CompletableFuture<>();
    private int next;

    Wait(long[] mapIds) {
      this.mapIds = mapIds;
    }

    void look() {
      if (isOver()) {
        over.complete(null);
      }
    }

    private synchronized boolean isOver() {
      while (next < mapIds.length && !has(mapIds[next])) {
        next++;
      }
      return next == mapIds.length;
    }
  }

  boolean isEmpty() {
    return registrations.isEmpty();
  }

  boolean has(long mapId) {
    return registrations.containsKey(mapId);
  }

  boolean has(Registration registration) {
    return registrations.get(registration.mapId()) == registration;
  }

  /** False where there is one of its map output. */
  boolean add(Registration registration) {
    return registrations.putIfAbsent(registration.mapId(), registration) == null;
  }

  void remove(Registration registration) {
    registrations.remove(registration.mapId(), registration);
  }

  void removeAll(Set<Long> mapIds) {
    registrations.keySet().removeAll(mapIds);
  }

  void clear() {
    registrations.clear();
  }

  /** Completes with the next {@link #answer} for which none of them is here, or at once. */
  CompletableFuture<Void> await(long[] mapIds) {
    Wait wait = new Wait(mapIds);
    waits.add(wait);
    wait.over.whenComplete((_, _) -> waits.remove(wait));
    wait.look();
    return wait.over;
  }

  /** Tells those who wait that some are not here any more, once what they ask for then is known. */
  void answer() {
    waits.forEach(Wait::look);
  }
}
