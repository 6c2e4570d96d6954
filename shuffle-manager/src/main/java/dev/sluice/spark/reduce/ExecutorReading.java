package dev.sluice.spark.reduce;

import dev.sluice.blocks.MapOutputRegistry;
import dev.sluice.spark.gather.GatherPlan;
import dev.sluice.spark.metrics.ShuffleCounters;
import dev.sluice.spark.read.RdmaBlockStoreClient;
import dev.sluice.spark.read.ShuffleClient;
import dev.sluice.spark.transport.FallbackReason;
import java.util.Optional;
import org.apache.spark.network.shuffle.BlockStoreClient;

/**
 * What the reduce tasks of an executor read with.
 *
 * @param client fetches blocks of other executors, one by one
 * @param gathering fetches those of an executor together, where that is on
 * @param counters of the executor
 */
public record ExecutorReading(
    ShuffleClient client,
    Optional<Gathering> gathering,
    ShuffleSerializers serializers,
    ShuffleCounters counters) {

  /**
   * What blocks are gathered with.
   *
   * @param registry this executor's map outputs
   * @param own how those are read
   */
  record Gathering(
      RdmaBlockStoreClient client, MapOutputRegistry registry, GatherPlan.Source own) {}

  /**
   * Nothing is READ.
   *
   * @param sparkClient Spark's own
   */
  public static ExecutorReading without(
      BlockStoreClient sparkClient, FallbackReason reason, ShuffleCounters counters) {
    return new ExecutorReading(
        ShuffleClient.without(sparkClient, reason, counters),
        Optional.empty(),
        new ShuffleSerializers(),
        counters);
  }

  /**
   * Blocks are READ.
   *
   * @param loopback whether this executor's own are as well
   */
  public static ExecutorReading with(
      RdmaBlockStoreClient client,
      MapOutputRegistry registry,
      ShuffleCounters counters,
      boolean loopback) {
    GatherPlan.Source own = loopback ? GatherPlan.Source.REMOTE : GatherPlan.Source.LOCAL;
    Gathering gathering = new Gathering(client, registry, own);
    return new ExecutorReading(
        client,
        Optional.of(gathering).filter(_ -> client.gathers()),
        new ShuffleSerializers(),
        counters);
  }
}
