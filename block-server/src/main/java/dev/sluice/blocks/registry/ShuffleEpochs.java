// SPDX-License-Identifier: Apache-2.0
package dev.sluice.blocks.registry;

import java.util.BitSet;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.IntFunction;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Current epoch of each shuffle. An epoch begins with a map output of a shuffle that is unknown or
 * unregistered. It ends when the shuffle is unregistered; only a new map output begins another one,
 * not a late reader. Epochs are local to this process and have no numbers: peers notice that one
 * has ended by keys that are no longer valid.
 *
 * <p>Each {@link MapOutputRegistry} creates one. It, the {@link RegistrationQueue}, the {@link
 * Registrar} and {@link ResidentPages} call it. Any thread. Each entering needs one {@link #leave};
 * until then the epoch is not dropped. An epoch is dropped when all have left it and nothing of it
 * is registered, pending or known to fail. An unregistered shuffle leaves one bit behind.
 */
final class ShuffleEpochs {
  private static final class Epoch {
    final ShuffleOutputs shuffle;

    /** Number of calls that have entered and not left. */
    int entered;

    Epoch(ShuffleOutputs shuffle) {
      this.shuffle = shuffle;
    }
  }

  private final IntFunction<ShuffleOutputs> factory;

  /** Changed only with the lock of this held. */
  private final ConcurrentHashMap<Integer, Epoch> current = new ConcurrentHashMap<>();

  // Guarded by this.
  private final BitSet fenced = new BitSet();
  private boolean closed;

  /**
   * @param factory makes the shuffle of a new epoch
   */
  ShuffleEpochs(IntFunction<ShuffleOutputs> factory) {
    this.factory = factory;
  }

  /** Returns the shuffle's current epoch; null if it has none. */
  @Nullable ShuffleOutputs get(int shuffleId) {
    Epoch epoch = current.get(shuffleId);
    return epoch == null ? null : epoch.shuffle;
  }

  Stream<ShuffleOutputs> all() {
    return current.values().stream().map(epoch -> epoch.shuffle);
  }

  /** Returns the epoch for a committed map output, kept until {@link #leave}; null when closed. */
  synchronized @Nullable ShuffleOutputs enterForCommit(int shuffleId) {
    fenced.clear(shuffleId);
    return enter(shuffleId);
  }

  /** Returns the epoch for a reader's request; null also while the shuffle is unregistered. */
  synchronized @Nullable ShuffleOutputs enterForReader(int shuffleId) {
    return fenced.get(shuffleId) ? null : enter(shuffleId);
  }

  private @Nullable ShuffleOutputs enter(int shuffleId) {
    if (closed) {
      return null;
    }
    Epoch epoch = current.computeIfAbsent(shuffleId, id -> new Epoch(factory.apply(id)));
    epoch.entered++;
    return epoch.shuffle;
  }

  synchronized void leave(ShuffleOutputs shuffle) {
    Epoch epoch = current.get(shuffle.id());
    if (epoch != null && epoch.shuffle == shuffle) {
      epoch.entered--;
      dropIfUnused(shuffle);
    }
  }

  synchronized void dropIfUnused(ShuffleOutputs shuffle) {
    Epoch epoch = current.get(shuffle.id());
    if (epoch != null && epoch.shuffle == shuffle && epoch.entered == 0 && shuffle.isBlank()) {
      current.remove(shuffle.id());
    }
  }

  /** Ends the shuffle's epoch. The caller closes the returned shuffle, if any. */
  synchronized @Nullable ShuffleOutputs end(int shuffleId) {
    fenced.set(shuffleId);
    Epoch epoch = current.remove(shuffleId);
    return epoch == null ? null : epoch.shuffle;
  }

  /** Ends all epochs for good. The caller closes the returned shuffles. */
  synchronized List<ShuffleOutputs> close() {
    closed = true;
    List<ShuffleOutputs> shuffles = all().toList();
    current.clear();
    return shuffles;
  }
}
