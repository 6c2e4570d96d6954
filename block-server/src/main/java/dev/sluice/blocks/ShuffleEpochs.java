package dev.sluice.blocks;

import java.util.BitSet;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.IntFunction;
import java.util.stream.Stream;

/**
 * The current epoch of each shuffle. An epoch begins with a map output of a shuffle that is unknown
 * or was unregistered, and ends when the shuffle is unregistered, after which only a new map output
 * begins another: a reader that comes late does not. Epochs are this executor's own and have no
 * numbers: peers notice their ends by keys that are no longer valid.
 *
 * <p>Any thread. An epoch in which nothing is registered, about to be or known to fail leaves no
 * trace. What remains of an unregistered shuffle is one bit.
 */
final class ShuffleEpochs {
  private static final class Epoch {
    final RegisteredShuffle shuffle;

    /** Those who have entered and not left. */
    int pending;

    Epoch(RegisteredShuffle shuffle) {
      this.shuffle = shuffle;
    }
  }

  private final IntFunction<RegisteredShuffle> factory;

  /** Changed with this locked. */
  private final ConcurrentHashMap<Integer, Epoch> current = new ConcurrentHashMap<>();

  // Guarded by this.
  private final BitSet fenced = new BitSet();
  private boolean closed;

  /**
   * @param factory makes the shuffle of a new epoch
   */
  ShuffleEpochs(IntFunction<RegisteredShuffle> factory) {
    this.factory = factory;
  }

  /** Null when nothing of the shuffle is registered. */
  RegisteredShuffle get(int shuffleId) {
    Epoch epoch = current.get(shuffleId);
    return epoch == null ? null : epoch.shuffle;
  }

  Stream<RegisteredShuffle> all() {
    return current.values().stream().map(epoch -> epoch.shuffle);
  }

  /** Where a committed map output is to be registered until {@link #leave}; null after closing. */
  synchronized RegisteredShuffle enterForCommit(int shuffleId) {
    fenced.clear(shuffleId);
    return enter(shuffleId);
  }

  /** The same for what a reader asks for: null also while the shuffle is unregistered. */
  synchronized RegisteredShuffle enterForReader(int shuffleId) {
    return fenced.get(shuffleId) ? null : enter(shuffleId);
  }

  private RegisteredShuffle enter(int shuffleId) {
    if (closed) {
      return null;
    }
    Epoch epoch = current.computeIfAbsent(shuffleId, id -> new Epoch(factory.apply(id)));
    epoch.pending++;
    return epoch.shuffle;
  }

  synchronized void leave(RegisteredShuffle shuffle) {
    Epoch epoch = current.get(shuffle.id());
    if (epoch != null && epoch.shuffle == shuffle) {
      epoch.pending--;
      dropIfUnused(shuffle);
    }
  }

  synchronized void dropIfUnused(RegisteredShuffle shuffle) {
    Epoch epoch = current.get(shuffle.id());
    if (epoch != null && epoch.shuffle == shuffle && epoch.pending == 0 && shuffle.isBlank()) {
      current.remove(shuffle.id());
    }
  }

  /** Ends the shuffle's epoch. The caller closes what is returned, unless it is null. */
  synchronized RegisteredShuffle end(int shuffleId) {
    fenced.set(shuffleId);
    Epoch epoch = current.remove(shuffleId);
    return epoch == null ? null : epoch.shuffle;
  }

  /** Ends all epochs for good. The caller closes what is returned. */
  synchronized List<RegisteredShuffle> close() {
    closed = true;
    List<RegisteredShuffle> shuffles = all().toList();
    current.clear();
    return shuffles;
  }
}
