// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.executor;

import dev.sluice.blocks.StartedParts;
import dev.sluice.blocks.registry.MapOutputFiles;
import dev.sluice.doctor.Platform;
import dev.sluice.rdma.transfer.DaemonThreads;
import dev.sluice.spark.conf.SluiceConf;
import dev.sluice.spark.fetch.RdmaBlockStoreClient;
import dev.sluice.spark.fetch.ShuffleClient;
import dev.sluice.spark.locate.AwayNodes;
import dev.sluice.spark.locate.Broadcasts;
import dev.sluice.spark.locate.DirectoryMessage;
import dev.sluice.spark.locate.DirectoryMessage.OtherVersion;
import dev.sluice.spark.locate.DirectoryMessage.Started;
import dev.sluice.spark.locate.DriverChannel;
import dev.sluice.spark.locate.ExecutorEndpoint;
import dev.sluice.spark.locate.LocatorClient;
import dev.sluice.spark.locate.OtherVersions;
import dev.sluice.spark.locate.UnresponsiveNodes;
import dev.sluice.spark.metrics.CountersReporter;
import dev.sluice.spark.metrics.ExecutorMetrics;
import dev.sluice.spark.metrics.MetricsSource;
import dev.sluice.spark.metrics.ShuffleCounters;
import dev.sluice.spark.reduce.ExecutorFetching;
import dev.sluice.spark.transport.FallbackReason;
import dev.sluice.spark.write.RegisteringShuffleWriter.OpenWriters;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.apache.spark.SparkConf;
import org.apache.spark.network.client.TransportClientBootstrap;
import org.apache.spark.network.server.TransportServerBootstrap;
import org.apache.spark.network.shuffle.BlockStoreClient;
import org.apache.spark.network.util.TransportConf;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * All parts that an executor runs: {@link ReadingRuntime} with RDMA, {@link FallbackRuntime}
 * without. Parts start in the order in which they need each other; {@link #close} stops them in
 * reverse order.
 *
 * <p>{@link LazyRuntime} creates it when the first task writes or reads, on its thread {@code
 * sluice-start}. If that start is late, a task's thread creates a FallbackRuntime instead.
 * LazyRuntime also closes it. Plain fields are set before LazyRuntime hands it to other threads.
 * Tasks' threads call it. Threads of Spark's transport call {@link #committed} for map outputs that
 * migrate here, threads of the block manager call {@link #unregister}, and a {@code sluice-driver}
 * thread calls {@code held} and {@code over}.
 */
public abstract sealed class SluiceRuntime implements AutoCloseable, CountersReporter.Shuffles
    permits ReadingRuntime, FallbackRuntime {
  static final Logger LOG = LoggerFactory.getLogger(SluiceRuntime.class);

  /**
   * Threads for questions to the driver, which block: one shuffle's must not delay another's, nor
   * wait for the publisher.
   */
  private static final int DRIVER_THREADS = 3;

  private static final int TELL_TRIES = 5;
  private static final long TELL_AGAIN_MS = 10_000;

  /** Delay with which a peer may appear in the metrics. */
  private static final long METRICS_PERIOD_MS = 5_000;

  /**
   * Services that Spark provides to an executor's runtime.
   *
   * @param files finds map outputs
   * @param localDirectories directories of the map outputs
   */
  public record Environment(
      SparkConf sparkConf,
      Executor executor,
      Network network,
      DriverChannel driver,
      Broadcasts broadcasts,
      MapOutputFiles files,
      List<Path> localDirectories) {}

  /**
   * The executor that runs this.
   *
   * @param host name or address by which other executors reach this one
   * @param cores cores for its tasks
   */
  public record Executor(String id, String host, int cores) {}

  /**
   * Spark's own transport.
   *
   * @param serverBootstraps authenticate clients that connect
   * @param clientBootstraps authenticate this process when it connects
   * @param secret shared secret of the application's processes; empty without authentication
   * @param client fetches blocks that are not READ
   */
  public record Network(
      TransportConf conf,
      List<TransportServerBootstrap> serverBootstraps,
      List<TransportClientBootstrap> clientBootstraps,
      String secret,
      BlockStoreClient client) {
    @Override
    public String toString() {
      return "Network"; // The secret must not be logged.
    }
  }

  final Environment env;
  final ShuffleCounters counters = new ShuffleCounters();
  final OpenWriters writers = new OpenWriters();
  final ScheduledExecutorService driverThreads =
      Executors.newScheduledThreadPool(DRIVER_THREADS, DaemonThreads.numbered("sluice-driver-"));

  /** Runs the deadlines of all parts. */
  final ScheduledExecutorService timer = DaemonThreads.timer();

  /** Runs steps of all parts that block. */
  final ExecutorService blocking = DaemonThreads.blocking();

  private final StartedParts parts = new StartedParts();

  /** Null until the first task of a job that has turned READs off; guarded by this. */
  private @Nullable ExecutorFetching withoutReads;

  /** Guarded by this. */
  private boolean closed;

  // Set by ready(), before any thread gets the runtime.
  @SuppressWarnings("NullAway.Init")
  private ExecutorFetching reading;

  @SuppressWarnings("NullAway.Init")
  private ExecutorMetrics metrics;

  @SuppressWarnings("NullAway.Init")
  private Started description;

  @SuppressWarnings("NullAway.Init")
  private CountersReporter reporter;

  SluiceRuntime(Environment env) {
    this.env = env;
    started(timer::shutdownNow);
    started(blocking::shutdown);
    started(driverThreads::shutdownNow);
  }

  /**
   * Makes the object that tells the driver of map outputs that stay with this executor, because its
   * node daemon does not take them. Its deadline is that of Spark's own RPC messages.
   *
   * @param server the executor's block server; empty if its map outputs are not READ
   */
  static KeptOutputs keptOutputs(
      SluiceConf conf, Environment env, Optional<ExecutorEndpoint> server) {
    return new KeptOutputs(env.executor().id(), server, env.driver(), conf.rpcTimeoutMs());
  }

  /** Returns the state of node daemons. */
  static RdmaBlockStoreClient.Nodes nodes(SluiceConf conf, UnresponsiveNodes unresponsive) {
    return new RdmaBlockStoreClient.Nodes(
        unresponsive,
        new AwayNodes(
            TimeUnit.MILLISECONDS.toNanos(conf.nodeAwayTimeoutMs()),
            AwayNodes::refuses,
            System::nanoTime));
  }

  /** Makes a client that fetches by Spark's own transfer from executors. */
  final ShuffleClient fromExecutors() {
    return ShuffleClient.without(env.network().client(), FallbackReason.OFF, counters);
  }

  /** Makes a client that also finds map outputs of lost executors at node daemons. */
  final ShuffleClient fromNodes(
      SluiceConf conf, LocatorClient locator, UnresponsiveNodes unresponsive) {
    return started(
        ShuffleClient.fromNodes(
            env.network().client(),
            FallbackReason.OFF,
            locator,
            nodes(conf, unresponsive),
            conf.readOptions(env.executor().cores()).readTimeoutMs(),
            counters,
            timer,
            blocking));
  }

  /** Adds a part that {@link #close} closes, before the parts that were started earlier. */
  final <T extends AutoCloseable> T started(T part) {
    return parts.started(part);
  }

  /**
   * Ends the start: from now on tasks can read, and reports begin. A subclass's constructor calls
   * it once.
   *
   * @param started description of this executor
   */
  final void ready(ExecutorFetching reader, Started started, ExecutorMetrics allCounters) {
    description = started;
    reportOtherVersion();
    reading = reader;
    metrics = allCounters;
    reporter =
        started(
            new CountersReporter(
                env.executor().id(),
                (started.provider() + " " + started.device()).strip(),
                metrics,
                this,
                env.driver(),
                driverThreads,
                System::nanoTime,
                line -> LOG.info("Shuffle blocks of executor {}: {}", env.executor().id(), line)));
  }

  private void reportOtherVersion() {
    String own = Platform.version().orElse("");
    if (OtherVersions.differ(own, env.sparkConf().get(Platform.DRIVER_VERSION, ""))) {
      tell(new OtherVersion(env.executor().id(), own));
    }
  }

  /** Describes this executor to the driver. The runtime that starts too late must not. */
  public final void describe() {
    tell(description);
  }

  private void tell(DirectoryMessage message) {
    driverThreads.execute(() -> tell(message, TELL_TRIES));
  }

  /** Tries again later if the driver does not answer. */
  private void tell(DirectoryMessage message, int tries) {
    try {
      env.driver().ask(message);
    } catch (IOException e) {
      LOG.debug("The driver was not told {}; {} more tries", message, tries - 1, e);
      if (tries > 1 && !driverThreads.isShutdown()) {
        driverThreads.schedule(
            () -> tell(message, tries - 1), TELL_AGAIN_MS, TimeUnit.MILLISECONDS);
      }
    }
  }

  public final ExecutorFetching reading() {
    return reading;
  }

  /** Returns the objects for tasks of jobs that have turned READs off. */
  public final synchronized ExecutorFetching withoutReads() {
    if (withoutReads == null) {
      if (closed) {
        throw new IllegalStateException("this executor ends");
      }
      LOG.info(
          "Tasks of a job with spark.shuffle.rdma.provider=off fetch by Spark's own transfer; their"
              + " blocks count as OFF");
      withoutReads = ExecutorFetching.without(off(), counters);
    }
    return withoutReads;
  }

  /** Returns the client that fetches by Spark's own transfer alone. */
  abstract ShuffleClient off();

  public final ExecutorMetrics metrics() {
    return metrics;
  }

  /** Has the source show new peers from now on. */
  public final void keepFresh(MetricsSource source) {
    driverThreads.scheduleWithFixedDelay(
        source::refresh, METRICS_PERIOD_MS, METRICS_PERIOD_MS, TimeUnit.MILLISECONDS);
  }

  /** Returns the number of map tasks that write on this executor, by shuffle. */
  public final OpenWriters writers() {
    return writers;
  }

  /** Called when a map task begins. Never waits. */
  public abstract void aboutToWrite();

  /**
   * Called when a map task has committed, or when a map output has migrated here.
   *
   * @throws IOException if Spark was promised by {@code spark.shuffle.rdma.node=on} that the map
   *     output outlives this executor, and the driver cannot be told that it does not; the message
   *     is the reason
   */
  public abstract void committed(int shuffleId, long mapId) throws IOException;

  /** Called when a task that wrote or read has ended. */
  public final void taskEnded() {
    reporter.changed();
  }

  /** Called on threads of the block manager, before the shuffle's files are deleted. */
  public abstract void unregister(int shuffleId);

  /** Logs the bytes by path, unless the log has them already. */
  public final void summarize() {
    reporter.say();
  }

  @Override
  public final void close() {
    synchronized (this) {
      closed = true; // Nothing is started any more.
    }
    parts.close();
  }
}
