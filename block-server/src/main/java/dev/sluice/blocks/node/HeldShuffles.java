package dev.sluice.blocks.node;

import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

/**
 * Which map outputs of an application a node has, where, and how many bytes they are: 70 bytes of
 * heap each. Any thread.
 */
final class HeldShuffles {
  /**
   * A map output.
   *
   * @param folder that it is in
   * @param bytes of its data
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

  /** Does nothing where it is known. */
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

  /** Null where the map output is not known. */
  Held get(int shuffleId, long mapId) {
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

  /** Forgets a shuffle, and says which map outputs it had. */
  Map<Long, Held> remove(int shuffleId) {
    return forget(shuffles.remove(shuffleId));
  }

  /**
   * Forgets a shuffle that has got nothing since, and says which map outputs it had.
   *
   * @param nanos of the clock
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

  private Map<Long, Held> forget(Shuffle removed) {
    if (removed == null) {
      return Map.of();
    }
    outputs.addAndGet(-removed.byMapId.size());
    bytes.addAndGet(-removed.byMapId.values().stream().mapToLong(Held::bytes).sum());
    return removed.byMapId;
  }

  /** Shuffles of which there are map outputs. */
  Set<Integer> ids() {
    return Set.copyOf(shuffles.keySet());
  }

  /** Map outputs of a shuffle. */
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
