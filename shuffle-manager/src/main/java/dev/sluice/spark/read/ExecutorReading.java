package dev.sluice.spark.read;

import dev.sluice.blocks.MapOutputRegistry;
import dev.sluice.spark.metrics.ShuffleCounters;

/**
 * What the reduce tasks of an executor read with.
 *
 * @param client fetches blocks of other executors
 * @param registry this executor's map outputs; null where RDMA is off
 * @param counters of the executor
 * @param loopback {@link ReadOptions#loopback}
 */
public record ExecutorReading(
    RdmaBlockStoreClient client,
    MapOutputRegistry registry,
    ShuffleSerializers serializers,
    ShuffleCounters counters,
    boolean loopback) {

  public ExecutorReading(
      RdmaBlockStoreClient client,
      MapOutputRegistry registry,
      ShuffleCounters counters,
      boolean loopback) {
    this(client, registry, new ShuffleSerializers(), counters, loopback);
  }

  /** The shuffle is unregistered: what is known of it is forgotten. */
  public void unregister(int shuffleId) {
    client.unregisterShuffle(shuffleId);
  }
}
