package dev.sluice.spark.read;

import java.util.LinkedHashMap;
import java.util.SequencedMap;
import org.apache.spark.serializer.KryoSerializer;
import org.apache.spark.serializer.Serializer;

/**
 * Lets the reduce tasks of an executor share the serializer of a shuffle. Each task comes with a
 * copy of its own, which for Kryo has an empty pool: setting up a Kryo and registering all that
 * Spark registers takes longer than deserialising some thousand records. Any thread.
 *
 * <p>Only Spark's own KryoSerializer is shared, of which SparkEnv has one that all tasks use, too.
 * Tasks of sessions with classes of their own have class loaders of their own, and so do not meet;
 * what is kept of a session goes with its shuffles.
 */
final class ShuffleSerializers {
  /** More than an executor reads at a time; what is beyond is set up once more. */
  private static final int MAX_KEPT = 64;

  private record Key(int shuffleId, ClassLoader loader) {}

  // Guarded by this; the least recently used first.
  private final SequencedMap<Key, Serializer> kept = new LinkedHashMap<>(16, 0.75f, true);

  /**
   * The serializer to read a shuffle with.
   *
   * @param own the calling task's copy
   */
  synchronized Serializer get(int shuffleId, Serializer own) {
    if (own.getClass() != KryoSerializer.class) {
      return own;
    }
    Key key = new Key(shuffleId, Thread.currentThread().getContextClassLoader());
    Serializer shared = kept.computeIfAbsent(key, _ -> own);
    if (kept.size() > MAX_KEPT) {
      kept.pollFirstEntry();
    }
    return shared;
  }

  /** The shuffle is unregistered: nothing of the sessions that read it is held any more. */
  synchronized void drop(int shuffleId) {
    kept.keySet().removeIf(key -> key.shuffleId() == shuffleId);
  }
}
