// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.executor;

import dev.sluice.spark.conf.SluiceConf;
import dev.sluice.spark.fetch.ShuffleClient;
import dev.sluice.spark.locate.DirectoryMessage.MemoryLimits;
import dev.sluice.spark.locate.DirectoryMessage.Started;
import dev.sluice.spark.locate.LocatorClient;
import dev.sluice.spark.locate.UnresponsiveNodes;
import dev.sluice.spark.metrics.ExecutorMetrics;
import dev.sluice.spark.reduce.ExecutorFetching;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * Runtime of an executor without READs: registers no map outputs, holds no shuffle, and counts
 * blocks that go by Spark's own transfer. With {@code spark.shuffle.rdma.node=on} it tells the
 * driver of each map output that this executor keeps, and its reduce tasks find map outputs of
 * other executors at node daemons. Only then both Optionals have a value. {@code SluiceShuffle}
 * makes it where RDMA is off or cannot start; {@link SluiceRuntime} names threads and owner.
 */
public final class FallbackRuntime extends SluiceRuntime {
  /** Name of no provider. */
  private static final String OFF = "off";

  private final Optional<KeptOutputs> kept;
  private final Optional<LocatorClient> locator;
  private final ShuffleClient client;
  private final String reason;

  /**
   * @param reason why this executor hands nothing over to its node daemon
   */
  public FallbackRuntime(SluiceConf conf, Environment env, String reason) {
    super(env);
    this.reason = reason;
    if (conf.isNodeRequired()) {
      UnresponsiveNodes unresponsive = new UnresponsiveNodes(System::nanoTime);
      LocatorClient found = locator(conf, unresponsive);
      kept = Optional.of(keptOutputs(conf, env, Optional.empty()));
      locator = Optional.of(found);
      client = fromNodes(conf, found, unresponsive);
    } else {
      kept = Optional.empty();
      locator = Optional.empty();
      client = fromExecutors();
    }
    ready(
        ExecutorFetching.without(client, counters),
        new Started(
            env.executor().id(), OFF, "", "", env.executor().host(), reason, MemoryLimits.NONE),
        new ExecutorMetrics(counters));
  }

  /** Returns a locator that asks only the driver: without a device it asks no peer. */
  private LocatorClient locator(SluiceConf conf, UnresponsiveNodes unresponsive) {
    return new LocatorClient(
        new LocatorClient.Services(
            OFF,
            new LocatorClient.Driver(
                env.driver(),
                env.broadcasts(),
                driverThreads,
                blocking,
                () -> CompletableFuture.completedFuture(null)),
            (_, _, _) ->
                CompletableFuture.failedFuture(new IOException("this executor does not READ")),
            conf.locateTimeoutMs(),
            _ -> {},
            System::nanoTime),
        unresponsive);
  }

  @Override
  ShuffleClient off() {
    return client;
  }

  @Override
  public void aboutToWrite() {}

  @Override
  public void committed(int shuffleId, long mapId) throws IOException {
    if (kept.isPresent()) {
      kept.get().keep(shuffleId, mapId, reason);
    }
  }

  @Override
  public void unregister(int shuffleId) {
    locator.ifPresent(asked -> asked.forget(shuffleId));
  }

  @Override
  public List<Integer> held() {
    return List.of();
  }

  @Override
  public void over(int shuffleId) {}
}
