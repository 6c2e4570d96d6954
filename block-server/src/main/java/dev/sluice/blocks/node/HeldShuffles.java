package dev.sluice.blocks.node;

import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

/**
 * Which map outputs of an application a node has, and how many bytes they are: 60 bytes of heap
 * each. Any thread.
 */
final class HeldShuffles {
  private static final class Shuffle {
    final ConcurrentHashMap<Long, Long> bytesByMapId = new ConcurrentHashMap<>();
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
  void add(int shuffleId, long mapId, long dataBytes) {
    shuffles.compute(
        shuffleId,
        (_, known) -> {
          Shuffle shuffle = known == null ? new Shuffle() : known;
          shuffle.lastAddedNanos = nanoClock.getAsLong();
          if (shuffle.bytesByMapId.putIfAbsent(mapId, dataBytes) == null) {
            outputs.incrementAndGet();
            bytes.addAndGet(dataBytes);
          }
          return shuffle;
        });
  }

  /** Whether the map output is known. */
  boolean has(int shuffleId, long mapId) {
    Shuffle shuffle = shuffles.get(shuffleId);
    return shuffle != null && shuffle.bytesByMapId.containsKey(mapId);
  }

  /** Forgets a map output. */
  void remove(int shuffleId, long mapId) {
    shuffles.computeIfPresent(
        shuffleId,
        (_, shuffle) -> {
          Long removed = shuffle.bytesByMapId.remove(mapId);
          if (removed != null) {
            outputs.decrementAndGet();
            bytes.addAndGet(-removed);
          }
          return shuffle.bytesByMapId.isEmpty() ? null : shuffle;
        });
  }

  /** Forgets a shuffle, and says which map outputs it had. */
  Set<Long> remove(int shuffleId) {
    return forget(shuffles.remove(shuffleId));
  }

  /**
   * Forgets a shuffle that has got nothing since, and says which map outputs it had.
   *
   * @param nanos of the clock
   */
  Set<Long> removeIfOlder(int shuffleId, long nanos) {
    Set<Long> removed = new HashSet<>();
    shuffles.computeIfPresent(
        shuffleId,
        (_, shuffle) -> {
          if (shuffle.lastAddedNanos - nanos >= 0) {
            return shuffle;
          }
          removed.addAll(forget(shuffle));
          return null;
        });
    return removed;
  }

  private Set<Long> forget(Shuffle removed) {
    if (removed == null) {
      return Set.of();
    }
    outputs.addAndGet(-removed.bytesByMapId.size());
    bytes.addAndGet(-removed.bytesByMapId.values().stream().mapToLong(Long::longValue).sum());
    return removed.bytesByMapId.keySet();
  }

  /** Shuffles of which there are map outputs. */
  Set<Integer> ids() {
    return Set.copyOf(shuffles.keySet());
  }

  /** Map outputs of a shuffle. */
  Set<Long> mapIds(int shuffleId) {
    Shuffle shuffle = shuffles.get(shuffleId);
    return shuffle == null ? Set.of() : Set.copyOf(shuffle.bytesByMapId.keySet());
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
