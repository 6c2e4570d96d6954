// SPDX-License-Identifier: Apache-2.0
package dev.sluice.node;

import dev.sluice.blocks.handover.ApplicationFolder;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Map outputs that a node has of one application, with folder and size: 70 bytes of heap each.
 * {@link ApplicationOutputs} creates it, adds and removes map outputs. {@link ShuffleRemover}
 * removes whole shuffles; {@link AdmissionControl} and {@link NodeMetric} read the totals. Any
 * thread; never blocks. A shuffle's map outputs change only within {@code compute}, and each change
 * also changes the totals.
 */
final class HeldShuffles {
  /**
   * A map output.
   *
   * @param folder its folder
   * @param bytes size of its data file
   */
  record Held(ApplicationFolder folder, long bytes) {}

  private static final class Shuffle {
    final ConcurrentHashMap<Long, Held> byMapId = new ConcurrentHashMap<>();
    volatile long lastAddedNanos;
  }

  private final LongSupplier nanoClock;
  private final ConcurrentHashMap<Integer, Shuffle> shuffles = new ConcurrentHashMap<>();
  private final AtomicLong outputs = new AtomicLong();
  private final AtomicLong bytes = new AtomicLong();

  HeldShuffles(LongSupplier nanoClock) {
    this.nanoClock = nanoClock;
  }

  /** Adds a map output unless it is known. */
  void add(int shuffleId, long mapId, Held added) {
    shuffles.compute(
        shuffleId,
        (_, known) -> {
          Shuffle shuffle = known == null ? new Shuffle() : known;
          shuffle.lastAddedNanos = nanoClock.getAsLong();
          if (shuffle.byMapId.putIfAbsent(mapId, added) == null) {
            outputs.incrementAndGet();
            bytes.addAndGet(added.bytes());
          }
          return shuffle;
        });
  }

  /** Returns a map output; null if it is not known. */
  @Nullable Held get(int shuffleId, long mapId) {
    Shuffle shuffle = shuffles.get(shuffleId);
    return shuffle == null ? null : shuffle.byMapId.get(mapId);
  }

  /** Forgets a map output. */
  void remove(int shuffleId, long mapId) {
    shuffles.computeIfPresent(
        shuffleId,
        (_, shuffle) -> {
          Held removed = shuffle.byMapId.remove(mapId);
          if (removed != null) {
            outputs.decrementAndGet();
            bytes.addAndGet(-removed.bytes());
          }
          return shuffle.byMapId.isEmpty() ? null : shuffle;
        });
  }

  /** Forgets a shuffle, and returns its map outputs. */
  Map<Long, Held> remove(int shuffleId) {
    return forget(shuffles.remove(shuffleId));
  }

  /**
   * Forgets a shuffle to which no map output was added since {@code nanos}, and returns its map
   * outputs; else returns none.
   *
   * @param nanos time by the clock
   */
  Map<Long, Held> removeIfOlder(int shuffleId, long nanos) {
    Map<Long, Held> removed = new HashMap<>();
    shuffles.computeIfPresent(
        shuffleId,
        (_, shuffle) -> {
          if (shuffle.lastAddedNanos - nanos >= 0) {
            return shuffle;
          }
          removed.putAll(forget(shuffle));
          return null;
        });
    return removed;
  }

  private Map<Long, Held> forget(@Nullable Shuffle removed) {
    if (removed == null) {
      return Map.of();
    }
    outputs.addAndGet(-removed.byMapId.size());
    bytes.addAndGet(-removed.byMapId.values().stream().mapToLong(Held::bytes).sum());
    return removed.byMapId;
  }

  /** Ids of shuffles with map outputs. */
  Set<Integer> ids() {
    return Set.copyOf(shuffles.keySet());
  }

  /** Ids of a shuffle's map outputs. */
  Set<Long> mapIds(int shuffleId) {
    Shuffle shuffle = shuffles.get(shuffleId);
    return shuffle == null ? Set.of() : Set.copyOf(shuffle.byMapId.keySet());
  }

  int shuffles() {
    return shuffles.size();
  }

  long outputs() {
    return outputs.get();
  }

  long bytes() {
    return bytes.get();
  }
}
