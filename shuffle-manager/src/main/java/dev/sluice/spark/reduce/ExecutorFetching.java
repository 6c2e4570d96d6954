// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.reduce;

import dev.sluice.blocks.registry.MapOutputRegistry;
import dev.sluice.spark.fetch.RdmaBlockFetcherIterator.Source;
import dev.sluice.spark.fetch.RdmaBlockStoreClient;
import dev.sluice.spark.fetch.ShuffleClient;
import dev.sluice.spark.metrics.ShuffleCounters;
import java.lang.ref.WeakReference;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.WeakHashMap;
import org.apache.spark.serializer.KryoSerializer;
import org.apache.spark.serializer.Serializer;

/**
 * Objects with which the reduce tasks of an executor read. The executor's runtime makes it and
 * closes the client; {@link RdmaShuffleReader}s share it. Any thread.
 *
 * @param client fetches blocks of other executors one by one
 * @param gathering fetches blocks of an executor in batches; empty if that is off
 * @param counters counters of the executor
 */
public record ExecutorFetching(
    ShuffleClient client,
    Optional<Gathering> gathering,
    ShuffleSerializers serializers,
    ShuffleCounters counters) {

  /**
   * Objects for batch fetches.
   *
   * @param registry map outputs of this executor
   * @param own way in which those are read
   */
  record Gathering(RdmaBlockStoreClient client, MapOutputRegistry registry, Source own) {}

  /** Makes the objects of an executor that READs nothing. */
  public static ExecutorFetching without(ShuffleClient client, ShuffleCounters counters) {
    return new ExecutorFetching(client, Optional.empty(), new ShuffleSerializers(), counters);
  }

  /**
   * Makes the objects of an executor that READs blocks.
   *
   * @param loopback true to READ this executor's own blocks as well
   */
  public static ExecutorFetching with(
      RdmaBlockStoreClient client,
      MapOutputRegistry registry,
      ShuffleCounters counters,
      boolean loopback) {
    Source own = loopback ? Source.REMOTE : Source.LOCAL;
    Gathering gathering = new Gathering(client, registry, own);
    return new ExecutorFetching(
        client,
        Optional.of(gathering).filter(_ -> client.gathers()),
        new ShuffleSerializers(),
        counters);
  }

  /**
   * Shares the serializer of a shuffle among the reduce tasks of an executor. Each task brings its
   * own copy, which for Kryo has an empty pool. Making a Kryo and registering all of Spark's
   * classes takes longer than deserialising some thousand records. Any thread.
   *
   * <p>Only Spark's own KryoSerializer is shared; SparkEnv has one that all tasks use, too. Tasks
   * of sessions with classes of their own have class loaders of their own, and therefore share
   * nothing with others.
   *
   * <p>Only the tasks hold a shared serializer. The garbage collector frees it, and its session's
   * class loader, when no task reads with it, even if a task outlived its shuffle.
   */
  static final class ShuffleSerializers {
    // Guarded by this; by class loader and shuffle id.
    private final Map<ClassLoader, Map<Integer, WeakReference<Serializer>>> shared =
        new WeakHashMap<>();

    /**
     * Returns the serializer with which to read a shuffle.
     *
     * @param own copy of the calling task
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
}
