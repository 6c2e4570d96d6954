// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.reduce;

import dev.sluice.blocks.MapOutputRegistry;
import dev.sluice.spark.fetch.FetchPlan;
import dev.sluice.spark.fetch.RdmaBlockStoreClient;
import dev.sluice.spark.fetch.ShuffleClient;
import dev.sluice.spark.metrics.ShuffleCounters;
import java.util.Optional;

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
  record Gathering(RdmaBlockStoreClient client, MapOutputRegistry registry, FetchPlan.Source own) {}

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
    FetchPlan.Source own = loopback ? FetchPlan.Source.REMOTE : FetchPlan.Source.LOCAL;
    Gathering gathering = new Gathering(client, registry, own);
    return new ExecutorFetching(
        client,
        Optional.of(gathering).filter(_ -> client.gathers()),
        new ShuffleSerializers(),
        counters);
  }
}
