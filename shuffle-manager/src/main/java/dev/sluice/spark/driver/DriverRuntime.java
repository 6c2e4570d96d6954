// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.driver;

import dev.sluice.blocks.client.BlockServerClient;
import dev.sluice.blocks.wire.ProcessName;
import dev.sluice.rdma.transfer.DaemonThreads;
import dev.sluice.rdma.transfer.PeerAddress;
import dev.sluice.spark.conf.SluiceConf;
import dev.sluice.spark.executor.ExecutorEnvironment;
import dev.sluice.spark.executor.SluiceRuntime;
import dev.sluice.spark.locate.AwayNodes;
import dev.sluice.spark.locate.DirectoryEndpoint;
import dev.sluice.spark.locate.DirectoryMessage.ExecutorReport;
import dev.sluice.spark.locate.DirectoryMessage.Report;
import dev.sluice.spark.locate.LocationDirectory;
import dev.sluice.spark.locate.SparkBroadcasts;
import dev.sluice.spark.metrics.ApplicationSummary;
import dev.sluice.spark.metrics.ApplicationTotals;
import dev.sluice.spark.metrics.ExecutorStates;
import dev.sluice.spark.metrics.MetricsSource;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.apache.spark.MapOutputTrackerMaster;
import org.apache.spark.SparkContext;
import org.apache.spark.SparkEnv;
import org.apache.spark.internal.config.package$;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerExecutorRemoved;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Parts of the shuffle manager on the driver: the location directory, from the first shuffle on,
 * and the application's counters. Needs no RDMA device. Threads that register shuffles call {@link
 * #open}, the block manager's threads {@link #unregister}, the listener bus's {@code executorLost},
 * and the directory's thread {@code check}. {@code SluiceShuffle} makes and closes it. {@link
 * #open} sets the volatile fields once, with the lock; other threads read them without it.
 */
public final class DriverRuntime implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(DriverRuntime.class);

  private final ApplicationTotals totals = new ApplicationTotals();
  private final ApplicationSummary summary = new ApplicationSummary(totals, LOG::info);
  private final ExecutorStates states = new ExecutorStates();

  /** Runs periodic work that does not block. */
  private final ScheduledExecutorService timer = DaemonThreads.timer();

  /** Runs steps that block, such as connecting to a node or making a broadcast. */
  private final ExecutorService blocking = DaemonThreads.blocking();

  /** Null before the first shuffle. */
  private volatile @Nullable LocationDirectory directory;

  /** Null before the first shuffle; guarded by this. */
  private @Nullable DirectoryEndpoint endpoint;

  /** Empty if executors serve their map outputs themselves, and before the first shuffle. */
  private volatile Optional<NodeLifetimes> nodes = Optional.empty();

  public ApplicationTotals totals() {
    return totals;
  }

  /** Called when a shuffle is registered. From the first one on, executors find the directory. */
  public synchronized void open(SparkContext context) {
    if (directory != null) {
      return;
    }
    SparkEnv env = context.env();
    Number minBroadcastBytes =
        (Number) env.conf().get(package$.MODULE$.SHUFFLE_MAPOUTPUT_MIN_SIZE_FOR_BROADCAST());
    MapOutputTrackerMaster tracker = (MapOutputTrackerMaster) env.mapOutputTracker();
    SluiceConf conf = new SluiceConf(env.conf());
    LocationDirectory opened =
        new LocationDirectory(
            // Half of the time that an executor waits for the answer, which then goes without it.
            new LocationDirectory.Shipping(
                new SparkBroadcasts(env.blockManager()), blocking, conf.locateTimeoutMs() / 2),
            minBroadcastBytes.longValue(),
            tracker::containsShuffle,
            this::accept);
    directory = opened;
    endpoint = DirectoryEndpoint.open(env.rpcEnv(), opened, this::check);
    if (conf.node().isPresent()) {
      nodes = Optional.of(nodes(conf, env, tracker, opened));
    }
    // The shared queue of listeners would drop events when one of them is slow.
    context.listenerBus().addToManagementQueue(new LostExecutors(id -> executorLost(id, opened)));
    context.addSparkListener(summary);
    env.metricsSystem()
        .registerSource(MetricsSource.of(totals, states::latencies, opened.otherVersions()));
    startFeed(context, opened);
  }

  private void startFeed(SparkContext context, LocationDirectory opened) {
    try {
      // The wall clock may step back.
      long startMs = System.currentTimeMillis();
      long startNanos = System.nanoTime();
      new UiFeed(
              totals,
              states,
              opened::nodeProviders,
              () -> startMs + TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - startNanos))
          .start(context, summary, timer);
    } catch (Throwable e) { // Errors too: the application does not need the tab.
      LOG.warn("Spark's UI has no tab Sluice, because its feed cannot be started", e);
    }
  }

  /** Takes reports on the directory's thread, with its lock. */
  private void accept(ExecutorReport report) {
    states.accept(report);
    if (report instanceof Report counters) {
      summary.accept(counters);
    }
  }

  private NodeLifetimes nodes(
      SluiceConf conf, SparkEnv env, MapOutputTrackerMaster tracker, LocationDirectory opened) {
    SluiceRuntime.Network network = ExecutorEnvironment.network(env);
    BlockServerClient servers =
        new BlockServerClient(
            new ProcessName(conf.application(), env.executorId()),
            network.conf(),
            network.clientBootstraps(),
            conf.transferOptions(),
            conf.locateTimeoutMs(),
            () -> TimeUnit.NANOSECONDS.toMillis(System.nanoTime()),
            blocking);
    DecisionTimes times = DecisionTimes.within(conf.locateTimeoutMs());
    return new NodeLifetimes(
        opened,
        servers,
        new TrackedOutputs(tracker),
        times,
        new AwayNodes(
            TimeUnit.MILLISECONDS.toNanos(conf.nodeAwayTimeoutMs()),
            node -> AwayNodes.refuses(node, times.connectMs()),
            System::nanoTime),
        System::nanoTime,
        timer,
        blocking);
  }

  private CompletableFuture<Void> check(PeerAddress node) {
    return nodes
        .map(known -> known.check(node))
        .orElseGet(() -> CompletableFuture.completedFuture(null));
  }

  private void executorLost(String executorId, LocationDirectory opened) {
    opened.executorLost(executorId);
    nodes.ifPresent(NodeLifetimes::unregisterKept);
    totals.executorLost(executorId);
    states.executorLost(executorId);
  }

  /** May wait for Spark's block managers, so it holds no lock that registering a shuffle needs. */
  public void unregister(int shuffleId) {
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
      timer.shutdownNow();
      nodes.ifPresent(NodeLifetimes::close);
      endpoint.close();
      blocking.shutdownNow();
    }
  }

  /**
   * Times that the driver has to decide about a node daemon that did not answer an executor. {@link
   * DriverRuntime} makes it from the executors' own limit. {@link NodeLifetimes} asks the daemon,
   * then finds out whether its port refuses connections, then asks it once more. The executor waits
   * for the decision, and goes on without it when its own time is over.
   *
   * @param checkMs time for the answer to the first question
   * @param connectMs time for a connection to the daemon's port to be taken or refused
   * @param lastTryMs time for one more answer before map outputs are lost
   */
  record DecisionTimes(long checkMs, int connectMs, long lastTryMs) {
    /** A machine that is there takes or refuses a connection at once. */
    private static final long MOST_CONNECT_MS = 1_000;

    /** Enough to ask once again after a connection that failed in the last second. */
    private static final long MOST_LAST_TRY_MS = 2_000;

    /**
     * Returns the times for an executor that waits so long for the driver. A tenth is left for the
     * way of the report and of its answer. Below 5.5 s the last try is too short to connect again
     * after a connection that has just failed.
     */
    static DecisionTimes within(long executorMs) {
      return new DecisionTimes(
          executorMs * 3 / 5,
          (int) Math.min(executorMs / 10, MOST_CONNECT_MS),
          Math.min(executorMs / 5, MOST_LAST_TRY_MS));
    }
  }

  /**
   * Reports executors that are lost for good, from the driver's listener bus. Spark never uses
   * their ids again. {@link DriverRuntime} adds it to the bus's management queue, whose thread
   * calls it. Other listeners of that queue wait meanwhile, so it must not block.
   *
   * <p>The removal of an executor's block manager would be weaker evidence. A fetch failure causes
   * it as well, and then the executor may live on. Until the bus delivers the event, that executor
   * may have published new map outputs. Older ones in the table do no harm: Spark has given them
   * up, so no reader asks for them.
   */
  static final class LostExecutors extends SparkListener {
    private final Consumer<String> lost;

    LostExecutors(Consumer<String> lost) {
      this.lost = lost;
    }

    @Override
    public void onExecutorRemoved(SparkListenerExecutorRemoved event) {
      lost.accept(event.executorId());
    }
  }
}
