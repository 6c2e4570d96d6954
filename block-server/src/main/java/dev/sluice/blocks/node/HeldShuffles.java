package dev.sluice.blocks.node;

import java.util.List;
import java.util.Map;
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

  /** Forgets a shuffle, and says which map outputs it had. */
  Set<Long> remove(int shuffleId) {
    Shuffle removed = shuffles.remove(shuffleId);
    if (removed == null) {
      return Set.of();
    }
    outputs.addAndGet(-removed.bytesByMapId.size());
    bytes.addAndGet(-removed.bytesByMapId.values().stream().mapToLong(Long::longValue).sum());
    return removed.bytesByMapId.keySet();
  }

  /** Shuffles that are none of the live ones, and got nothing for so long. */
  List<Integer> over(Set<Integer> live, long graceNanos) {
    long nowNanos = nanoClock.getAsLong();
    return shuffles.entrySet().stream()
        .filter(entry -> !live.contains(entry.getKey()))
        .filter(entry -> nowNanos - entry.getValue().lastAddedNanos >= graceNanos)
        .map(Map.Entry::getKey)
        .toList();
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
