package dev.sluice.spark.reduce;

import java.lang.ref.WeakReference;
import java.util.HashMap;
import java.util.Map;
import java.util.WeakHashMap;
import org.apache.spark.serializer.KryoSerializer;
import org.apache.spark.serializer.Serializer;

/**
 * Lets the reduce tasks of an executor share the serializer of a shuffle. Each task comes with a
 * copy of its own, which for Kryo has an empty pool: setting up a Kryo and registering all that
 * Spark registers takes longer than deserialising some thousand records. Any thread.
 *
 * <p>Only Spark's own KryoSerializer is shared, of which SparkEnv has one that all tasks use, too.
 * Tasks of sessions with classes of their own have class loaders of their own, and so do not meet.
 *
 * <p>The tasks hold what they share, and nobody else does: a serializer goes, and with it its
 * session's class loader, when the garbage collector finds that no task reads with it, also where
 * that task outlived its shuffle.
 */
final class ShuffleSerializers {
  // Guarded by this; by class loader and shuffle id.
  private final Map<ClassLoader, Map<Integer, WeakReference<Serializer>>> shared =
      new WeakHashMap<>();

  /**
   * The serializer to read a shuffle with.
   *
   * @param own the calling task's copy
   */
  synchronized Serializer get(int shuffleId, Serializer own) {
    if (own.getClass() != KryoSerializer.class) {
      return own;
    }
    Map<Integer, WeakReference<Serializer>> shuffles =
        shared.computeIfAbsent(
            Thread.currentThread().getContextClassLoader(), _ -> new HashMap<>());
    WeakReference<Serializer> known = shuffles.get(shuffleId);
    Serializer serializer = known == null ? null : known.get();
    if (serializer != null) {
      return serializer;
    }
    shuffles.values().removeIf(reference -> reference.refersTo(null));
    shuffles.put(shuffleId, new WeakReference<>(own));
    return own;
  }
}
