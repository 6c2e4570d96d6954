package dev.sluice.spark;

import dev.sluice.blocks.client.BlockServerClient;
import dev.sluice.blocks.wire.ProcessName;
import dev.sluice.rdma.transfer.PeerAddress;
import dev.sluice.spark.conf.SluiceConf;
import dev.sluice.spark.locate.DirectoryEndpoint;
import dev.sluice.spark.locate.LocationDirectory;
import dev.sluice.spark.locate.SparkBroadcasts;
import dev.sluice.spark.metrics.ApplicationSummary;
import dev.sluice.spark.metrics.ApplicationTotals;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.spark.MapOutputTrackerMaster;
import org.apache.spark.SparkContext;
import org.apache.spark.SparkEnv;
import org.apache.spark.internal.config.package$;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What the shuffle manager runs on the driver: the location directory, from the first shuffle on,
 * and the application's counters. Needs no RDMA device. Threads that register shuffles and Spark's
 * cleaner call it; the shuffle manager closes it.
 */
final class DriverSide implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(DriverSide.class);

  private final ApplicationTotals totals = new ApplicationTotals();
  private final ApplicationSummary summary = new ApplicationSummary(totals, LOG::info);

  /** Null before the first shuffle. */
  private volatile LocationDirectory directory;

  private DirectoryEndpoint endpoint;

  /** Empty where executors serve their map outputs themselves, and before the first shuffle. */
  private volatile Optional<NodeLifetimes> nodes = Optional.empty();

  ApplicationTotals totals() {
    return totals;
  }

  /** A shuffle is registered: from the first one on executors find the directory. */
  synchronized void open(SparkContext context) {
    if (directory != null) {
      return;
    }
    SparkEnv env = context.env();
    Number minBroadcastBytes =
        (Number) env.conf().get(package$.MODULE$.SHUFFLE_MAPOUTPUT_MIN_SIZE_FOR_BROADCAST());
    MapOutputTrackerMaster tracker = (MapOutputTrackerMaster) env.mapOutputTracker();
    directory =
        new LocationDirectory(
            new SparkBroadcasts(env.broadcastManager()),
            minBroadcastBytes.longValue(),
            tracker::containsShuffle,
            summary::accept);
    endpoint = DirectoryEndpoint.open(env.rpcEnv(), directory, this::check);
    SluiceConf conf = new SluiceConf(env.conf());
    if (conf.node().isPresent()) {
      nodes = Optional.of(nodes(conf, env, tracker));
    }
    // Not the queue of everybody's listeners, which drops events when one of them is slow.
    context.listenerBus().addToManagementQueue(new LostExecutors(this::executorLost));
    context.addSparkListener(summary);
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
    return new NodeLifetimes(
        directory,
        servers,
        new TrackedOutputs(tracker, conf.isNodeRequired()),
        conf.locateTimeoutMs() * 4 / 5,
        System::nanoTime);
  }

  private CompletableFuture<Void> check(PeerAddress node) {
    return nodes
        .map(known -> known.check(node))
        .orElseGet(() -> CompletableFuture.completedFuture(null));
  }

  private void executorLost(String executorId) {
    directory.executorLost(executorId);
    totals.executorLost(executorId);
  }

  /** May wait for Spark's block managers, and so holds no lock that registering a shuffle needs. */
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
    }
  }
}
