// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark;

import dev.sluice.blocks.client.BlockServerClient;
import dev.sluice.blocks.wire.ProcessName;
import dev.sluice.rdma.transfer.DaemonThreads;
import dev.sluice.rdma.transfer.PeerAddress;
import dev.sluice.spark.conf.SluiceConf;
import dev.sluice.spark.locate.AwayNodes;
import dev.sluice.spark.locate.DirectoryEndpoint;
import dev.sluice.spark.locate.LocationDirectory;
import dev.sluice.spark.locate.SparkBroadcasts;
import dev.sluice.spark.metrics.ApplicationSummary;
import dev.sluice.spark.metrics.ApplicationTotals;
import dev.sluice.spark.metrics.MetricsSource;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.TimeUnit;
import org.apache.spark.MapOutputTrackerMaster;
import org.apache.spark.SparkContext;
import org.apache.spark.SparkEnv;
import org.apache.spark.internal.config.package$;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Parts of the shuffle manager on the driver: the location directory, from the first shuffle on,
 * and the application's counters. Needs no RDMA device. Threads that register shuffles call {@link
 * #open}, the block manager's threads {@link #unregister}, the listener bus's {@code executorLost},
 * and the directory's thread {@code check}. {@link SluiceShuffle} closes it. {@link #open} sets the
 * volatile fields once, with the lock; other threads read them without it.
 */
final class DriverRuntime implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(DriverRuntime.class);

  private final ApplicationTotals totals = new ApplicationTotals();
  private final ApplicationSummary summary = new ApplicationSummary(totals, LOG::info);

  /** Thread that makes the directory's broadcasts. */
  private final ExecutorService shipper = DaemonThreads.atMost(1, "sluice-broadcast");

  /** Null before the first shuffle. */
  private volatile LocationDirectory directory;

  /** Null before the first shuffle; guarded by this. */
  private DirectoryEndpoint endpoint;

  /** Empty if executors serve their map outputs themselves, and before the first shuffle. */
  private volatile Optional<NodeLifetimes> nodes = Optional.empty();

  ApplicationTotals totals() {
    return totals;
  }

  /** Called when a shuffle is registered. From the first one on, executors find the directory. */
  synchronized void open(SparkContext context) {
    if (directory != null) {
      return;
    }
    SparkEnv env = context.env();
    Number minBroadcastBytes =
        (Number) env.conf().get(package$.MODULE$.SHUFFLE_MAPOUTPUT_MIN_SIZE_FOR_BROADCAST());
    MapOutputTrackerMaster tracker = (MapOutputTrackerMaster) env.mapOutputTracker();
    SluiceConf conf = new SluiceConf(env.conf());
    directory =
        new LocationDirectory(
            // Half of the time that an executor waits for the answer, which then goes without it.
            new LocationDirectory.Shipping(
                new SparkBroadcasts(env.blockManager()), shipper, conf.locateTimeoutMs() / 2),
            minBroadcastBytes.longValue(),
            tracker::containsShuffle,
            summary::accept);
    endpoint = DirectoryEndpoint.open(env.rpcEnv(), directory, this::check);
    if (conf.node().isPresent()) {
      nodes = Optional.of(nodes(conf, env, tracker));
    }
    // The shared queue of listeners would drop events when one of them is slow.
    context.listenerBus().addToManagementQueue(new LostExecutors(this::executorLost));
    context.addSparkListener(summary);
    env.metricsSystem().registerSource(MetricsSource.of(totals));
  }

  private NodeLifetimes nodes(SluiceConf conf, SparkEnv env, MapOutputTrackerMaster tracker) {
    SluiceRuntime.Network network = ExecutorEnvironment.network(env);
    BlockServerClient servers =
        new BlockServerClient(
            new ProcessName(conf.application(), env.executorId()),
            network.conf(),
            network.clientBootstraps(),
            conf.transferOptions(),
            conf.locateTimeoutMs(),
            () -> TimeUnit.NANOSECONDS.toMillis(System.nanoTime()));
    DecisionTimes times = DecisionTimes.within(conf.locateTimeoutMs());
    return new NodeLifetimes(
        directory,
        servers,
        new TrackedOutputs(tracker, conf.isNodeRequired()),
        times,
        new AwayNodes(
            TimeUnit.MILLISECONDS.toNanos(conf.nodeAwayTimeoutMs()),
            node -> AwayNodes.refuses(node, times.connectMs()),
            System::nanoTime),
        System::nanoTime);
  }

  private CompletableFuture<Void> check(PeerAddress node) {
    return nodes
        .map(known -> known.check(node))
        .orElseGet(() -> CompletableFuture.completedFuture(null));
  }

  private void executorLost(String executorId) {
    directory.executorLost(executorId);
    nodes.ifPresent(NodeLifetimes::unregisterKept);
    totals.executorLost(executorId);
  }

  /** May wait for Spark's block managers, so it holds no lock that registering a shuffle needs. */
  void unregister(int shuffleId) {
    LocationDirectory opened = directory;
    if (opened != null) {
      opened.unregister(shuffleId);
      nodes.ifPresent(told -> told.unregister(shuffleId));
    }
  }

  @Override
  public synchronized void close() {
    if (endpoint != null) {
      summary.say();
      nodes.ifPresent(NodeLifetimes::close);
      endpoint.close();
      shipper.shutdownNow();
    }
  }
}
