// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.registry;

import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Pending registrations of one shuffle, at most one for each map output, and the requests that wait
 * for them. A registration that is removed is cancelled, since its files may have been replaced.
 * Any thread; never blocks. The {@link ShuffleOutputs} owns it, and the {@link RegistrationQueue}
 * fills it. A removed registration still comes to {@link #finish}, which answers the requests.
 */
final class PendingRegistrations {
  private final ConcurrentHashMap<Long, PendingRegistration> registrations =
      new ConcurrentHashMap<>();
  private final Set<Wait> waits = ConcurrentHashMap.newKeySet();

  /** Map outputs that one request waits for. */
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

  boolean has(long mapId) {
    return registrations.containsKey(mapId);
  }

  boolean has(PendingRegistration registration) {
    return registrations.get(registration.mapId()) == registration;
  }

  /** Returns false if its map output has one already. */
  boolean add(PendingRegistration registration) {
    return registrations.putIfAbsent(registration.mapId(), registration) == null;
  }

  boolean isEmpty() {
    return registrations.isEmpty();
  }

  /** Ends a registration, whether it succeeded or not. */
  void finish(PendingRegistration registration) {
    registrations.remove(registration.mapId(), registration);
    answer();
  }

  void removeAll(Set<Long> mapIds) {
    registrations.keySet().removeAll(mapIds);
  }

  void clear() {
    registrations.clear();
  }

  /** Completes now, or with the first {@link #answer} that finds none of these map outputs here. */
  CompletableFuture<Void> await(long[] mapIds) {
    Wait wait = new Wait(mapIds);
    waits.add(wait);
    wait.over.whenComplete((_, _) -> waits.remove(wait));
    wait.look();
    return wait.over;
  }

  /** Completes requests that wait for none any more. Called once they can look up the results. */
  void answer() {
    waits.forEach(Wait::look);
  }
}
