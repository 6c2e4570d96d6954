package dev.sluice.spark;

import dev.sluice.blocks.MapOutputFiles;
import dev.sluice.blocks.StartedParts;
import dev.sluice.rdma.transfer.DaemonThreads;
import dev.sluice.spark.locate.Broadcasts;
import dev.sluice.spark.locate.DriverChannel;
import dev.sluice.spark.metrics.CountersReporter;
import dev.sluice.spark.metrics.ExecutorMetrics;
import dev.sluice.spark.metrics.ShuffleCounters;
import dev.sluice.spark.reduce.ExecutorReading;
import dev.sluice.spark.write.OpenWriters;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import org.apache.spark.SparkConf;
import org.apache.spark.network.client.TransportClientBootstrap;
import org.apache.spark.network.server.TransportServerBootstrap;
import org.apache.spark.network.shuffle.BlockStoreClient;
import org.apache.spark.network.util.TransportConf;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Everything that an executor runs: {@link ReadingRuntime} where there is RDMA, {@link
 * CountingRuntime} where there is not. Parts start in the order in which they need each other;
 * {@link #close} stops them in the reverse order. Made on a thread of its own when the first task
 * writes or reads ({@link LazyRuntime}); closed by the shuffle manager.
 */
abstract sealed class SluiceRuntime implements AutoCloseable, CountersReporter.Shuffles
    permits ReadingRuntime, CountingRuntime {
  static final Logger LOG = LoggerFactory.getLogger(SluiceRuntime.class);

  /** For questions to the driver, which block: those of one shuffle must not delay another's. */
  private static final int DRIVER_THREADS = 2;

  /**
   * What Spark gives to an executor's runtime.
   *
   * @param files finds map outputs
   * @param localDirectories where they are
   */
  record Environment(
      SparkConf sparkConf,
      Executor executor,
      Network network,
      DriverChannel driver,
      Broadcasts broadcasts,
      MapOutputFiles files,
      List<Path> localDirectories) {}

  /**
   * Who runs it.
   *
   * @param host how other executors reach this one
   * @param cores on which its tasks run
   */
  record Executor(String id, String host, int cores) {}

  /**
   * Spark's own transport.
   *
   * @param serverBootstraps authenticate those who connect
   * @param clientBootstraps authenticate this process where it connects
   * @param secret by which the application's processes authenticate; empty where they do not
   * @param client fetches what is not READ
   */
  record Network(
      TransportConf conf,
      List<TransportServerBootstrap> serverBootstraps,
      List<TransportClientBootstrap> clientBootstraps,
      String secret,
      BlockStoreClient client) {
    @Override
    public String toString() {
      return "Network"; // The secret is not for logs.
    }
  }

  final Environment env;
  final ShuffleCounters counters = new ShuffleCounters();
  final OpenWriters writers = new OpenWriters();
  final ScheduledExecutorService driverThreads =
      Executors.newScheduledThreadPool(DRIVER_THREADS, DaemonThreads.numbered("sluice-driver-"));

  private final StartedParts parts = new StartedParts();

  private ExecutorReading reading;
  private ExecutorMetrics metrics;
  private CountersReporter reporter;

  SluiceRuntime(Environment env) {
    this.env = env;
    started(driverThreads::shutdownNow);
  }

  /** Has the part closed when this is, before those that were started earlier. */
  final <T extends AutoCloseable> T started(T part) {
    return parts.started(part);
  }

  /**
   * The last step of a start: tasks can read, and reports begin.
   *
   * @param device provider and device in use
   */
  final void ready(ExecutorReading reader, String device, ExecutorMetrics allCounters) {
    reading = reader;
    metrics = allCounters;
    reporter =
        started(
            new CountersReporter(
                env.executor().id(),
                device,
                metrics,
                this,
                env.driver(),
                driverThreads,
                System::nanoTime,
                line -> LOG.info("Shuffle blocks of executor {}: {}", env.executor().id(), line)));
  }

  final ExecutorReading reading() {
    return reading;
  }

  final ExecutorMetrics metrics() {
    return metrics;
  }

  /** Those that write on this executor. */
  final OpenWriters writers() {
    return writers;
  }

  /**
   * A map task begins.
   *
   * @throws IllegalStateException where what it writes cannot be kept where it has to be, with the
   *     reason
   */
  abstract void aboutToWrite();

  /**
   * A map task has committed.
   *
   * @throws IOException where the map output could not be handed over to the node; the message is
   *     the reason
   */
  abstract void committed(int shuffleId, long mapId) throws IOException;

  /** A task that wrote or read has ended, or what it wrote was counted later. */
  final void taskEnded() {
    reporter.changed();
  }

  /** The shuffle's files are about to be deleted. */
  abstract void unregister(int shuffleId);

  /** Says what went which way, where that is not yet in the log. */
  final void summarize() {
    reporter.say();
  }

  @Override
  public final void close() {
    parts.close();
  }
}
