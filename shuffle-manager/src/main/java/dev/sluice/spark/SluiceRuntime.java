package dev.sluice.spark;

import dev.sluice.blocks.BlockServer;
import dev.sluice.blocks.BlockServerClient;
import dev.sluice.blocks.LocalDirectories;
import dev.sluice.blocks.MapOutputFiles;
import dev.sluice.blocks.MapOutputRegistry;
import dev.sluice.blocks.RegistrationUnavailableException;
import dev.sluice.blocks.RegistryLimits;
import dev.sluice.rdma.Device;
import dev.sluice.rdma.ProtectionDomain;
import dev.sluice.rdma.transfer.PeerAddress;
import dev.sluice.rdma.transfer.RdmaEndpoint;
import dev.sluice.spark.conf.SluiceConf;
import dev.sluice.spark.locate.Broadcasts;
import dev.sluice.spark.locate.DriverChannel;
import dev.sluice.spark.locate.ExecutorEndpoint;
import dev.sluice.spark.locate.LocatorClient;
import dev.sluice.spark.locate.Publisher;
import dev.sluice.spark.metrics.CountersReporter;
import dev.sluice.spark.metrics.ExecutorMetrics;
import dev.sluice.spark.metrics.ShuffleCounters;
import dev.sluice.spark.read.ExecutorReading;
import dev.sluice.spark.read.RdmaBlockStoreClient;
import dev.sluice.spark.write.OpenWriters;
import java.io.IOException;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.apache.spark.SparkConf;
import org.apache.spark.network.client.TransportClientBootstrap;
import org.apache.spark.network.server.TransportServerBootstrap;
import org.apache.spark.network.shuffle.BlockStoreClient;
import org.apache.spark.network.util.TransportConf;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Everything that an executor runs, put together in one place: {@link #start} starts the parts in
 * the order in which they need each other, {@link #close} stops them in the reverse order. Made on
 * a thread of its own when the first task writes or reads ({@link LazyRuntime}); closed by the
 * shuffle manager.
 */
final class SluiceRuntime implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(SluiceRuntime.class);

  /** For questions to the driver, which block: those of one shuffle must not delay another's. */
  private static final int DRIVER_THREADS = 2;

  /**
   * What Spark gives to an executor's runtime.
   *
   * @param cores on which its tasks run
   * @param host how other executors reach this one
   * @param serverBootstraps authenticate those who connect
   * @param clientBootstraps authenticate this process where it connects
   * @param files finds map outputs
   * @param localDirectories where they are
   * @param sparkClient fetches what is not READ
   */
  record Environment(
      SparkConf sparkConf,
      String executorId,
      int cores,
      String host,
      TransportConf transportConf,
      List<TransportServerBootstrap> serverBootstraps,
      List<TransportClientBootstrap> clientBootstraps,
      DriverChannel driver,
      Broadcasts broadcasts,
      MapOutputFiles files,
      List<Path> localDirectories,
      BlockStoreClient sparkClient) {}

  /** Opens what blocks are READ by and served with. */
  @FunctionalInterface
  interface DeviceOpener {
    /**
     * @throws IOException when there is no device, with the reason
     */
    Device open() throws IOException;
  }

  private final SluiceConf conf;
  private final Environment env;
  private final ShuffleCounters counters = new ShuffleCounters();
  private final ScheduledExecutorService driverThreads =
      Executors.newScheduledThreadPool(
          DRIVER_THREADS,
          Thread.ofPlatform()
              .daemon()
              .name("sluice-driver-", 0)
              .inheritInheritableThreadLocals(false)
              .factory());

  /** What is to be closed, what was started last first. */
  private final Deque<AutoCloseable> parts = new ArrayDeque<>();

  private final OpenWriters writers = new OpenWriters();
  private MapOutputRegistry registry;
  private LocatorClient locator;
  private ExecutorReading reading;
  private ExecutorMetrics metrics;
  private CountersReporter reporter;

  private SluiceRuntime(SluiceConf conf, Environment env) {
    this.conf = conf;
    this.env = env;
    started(driverThreads::shutdownNow);
  }

  /**
   * A runtime that READs.
   *
   * @param opener called once
   * @throws IOException when a part cannot be started, with the reason; nothing is left behind
   */
  static SluiceRuntime start(SluiceConf conf, Environment env, DeviceOpener opener)
      throws IOException {
    SluiceRuntime runtime = new SluiceRuntime(conf, env);
    boolean started = false;
    try {
      runtime.startParts(opener);
      started = true;
      return runtime;
    } finally {
      if (!started) {
        runtime.close();
      }
    }
  }

  /** A runtime that only counts what goes by Spark's own transfer. */
  static SluiceRuntime off(Environment env) {
    SluiceRuntime runtime = new SluiceRuntime(null, env);
    runtime.reading =
        new ExecutorReading(
            RdmaBlockStoreClient.off(env.sparkClient(), runtime.counters),
            null,
            runtime.counters,
            false);
    runtime.startReporting("off", new ExecutorMetrics(runtime.counters));
    return runtime;
  }

  private void startParts(DeviceOpener opener) throws IOException {
    BlockServerClient servers =
        started(
            new BlockServerClient(
                env.executorId(),
                env.transportConf(),
                env.clientBootstraps(),
                conf.connectTimeoutMs(),
                conf.locateTimeoutMs(),
                SluiceRuntime::clockMs));
    Device device = opener.open();
    RdmaEndpoint endpoint = open(device, servers);
    Publisher publisher = new Publisher(env.driver(), writers::any);
    registry =
        started(openRegistry(endpoint.protectionDomain(), registryLimits(device), publisher));
    BlockServer server = started(listen(endpoint));
    started(publisher);
    publisher.start(
        new ExecutorEndpoint(env.executorId(), env.host(), server.port(), device.providerName()));
    startReading(endpoint, servers);
    startReporting(
        device.providerName() + " " + device.name(),
        new ExecutorMetrics(counters, endpoint.counters(), registry.counters()));
    LOG.info(
        "Shuffle blocks are READ by provider {}, device {}; block server at {}:{}; {} MiB for map"
            + " outputs, {} MiB for buffers",
        device.providerName(),
        device.name(),
        env.host(),
        server.port(),
        conf.registrationMaxBytes() >> 20,
        conf.buffersMaxBytes() >> 20);
  }

  /** The endpoint owns the device, but only once it is open. */
  private RdmaEndpoint open(Device device, BlockServerClient servers) throws IOException {
    try {
      return started(RdmaEndpoint.open(device, conf.transferOptions(), servers));
    } catch (IOException | RuntimeException e) {
      device.close();
      throw e;
    }
  }

  /** Local directories are tried out only if something may be registered at all. */
  private MapOutputRegistry openRegistry(
      ProtectionDomain domain, RegistryLimits limits, Publisher publisher)
      throws RegistrationUnavailableException {
    LocalDirectories directories =
        LocalDirectories.probe(
            domain,
            conf.registrationMode(),
            limits.maxBytes() == 0 ? List.of() : env.localDirectories());
    return new MapOutputRegistry(
        domain, directories, env.files(), limits, publisher, SluiceRuntime::clockMs);
  }

  private RegistryLimits registryLimits(Device device) {
    return new RegistryLimits(
        conf.registrationMaxBytes(),
        conf.maxRegions(),
        conf.registrationIdleTimeoutMs(),
        device.providerName().equals("verbs"));
  }

  private BlockServer listen(RdmaEndpoint endpoint) throws IOException {
    String provider = endpoint.device().providerName();
    String bindAddress = bindAddress(env.host());
    return FreePort.listen(
        conf.port(),
        conf.portRetries(),
        port ->
            new BlockServer(
                env.transportConf(),
                bindAddress,
                port,
                env.serverBootstraps(),
                provider,
                new EndpointAcceptor(endpoint),
                registry));
  }

  /** The address that peers connect to; null, for all, where it is translated on its way here. */
  private static String bindAddress(String host) throws IOException {
    InetAddress address = InetAddress.getByName(host);
    return NetworkInterface.getByInetAddress(address) == null ? null : host;
  }

  private void startReading(RdmaEndpoint endpoint, BlockServerClient servers) {
    locator =
        new LocatorClient(
            new LocatorClient.Services(
                endpoint.device().providerName(),
                env.driver(),
                env.broadcasts(),
                servers::resolve,
                driverThreads,
                conf.locateTimeoutMs(),
                peer -> peerLost(peer, endpoint, servers),
                System::nanoTime));
    reading =
        new ExecutorReading(
            started(
                RdmaBlockStoreClient.open(
                    env.sparkClient(),
                    env.executorId(),
                    env.transportConf(),
                    conf.readOptions(env.cores()),
                    endpoint,
                    locator,
                    servers,
                    counters)),
            registry,
            counters,
            conf.loopback());
  }

  private static void peerLost(PeerAddress peer, RdmaEndpoint endpoint, BlockServerClient servers) {
    endpoint.peerLost(peer.id());
    servers.peerLost(peer);
  }

  private void startReporting(String device, ExecutorMetrics allCounters) {
    metrics = allCounters;
    reporter =
        started(
            new CountersReporter(
                env.executorId(),
                device,
                metrics,
                new HeldShuffles(),
                env.driver(),
                driverThreads,
                System::nanoTime,
                line -> LOG.info("Shuffle blocks of executor {}: {}", env.executorId(), line)));
  }

  private final class HeldShuffles implements CountersReporter.Shuffles {
    @Override
    public List<Integer> held() {
      return registry == null ? List.of() : registry.shuffles();
    }

    @Override
    public void over(int shuffleId) {
      LOG.debug("Shuffle {} is over, as the driver answers a report", shuffleId);
      // Spark may register it anew in this very moment: then all of it is found again.
      registry.evict(shuffleId);
      forget(shuffleId);
    }
  }

  private <T extends AutoCloseable> T started(T part) {
    parts.push(part);
    return part;
  }

  private static long clockMs() {
    return TimeUnit.NANOSECONDS.toMillis(System.nanoTime());
  }

  /** The registered map outputs; null where RDMA is off. */
  MapOutputRegistry registry() {
    return registry;
  }

  ExecutorReading reading() {
    return reading;
  }

  ExecutorMetrics metrics() {
    return metrics;
  }

  /** Those that write on this executor. */
  OpenWriters writers() {
    return writers;
  }

  /** A map task has committed. */
  void committed(int shuffleId, long mapId) {
    if (registry != null) {
      registry.add(shuffleId, mapId);
    }
  }

  /** A task that wrote or read has ended. */
  void taskEnded() {
    reporter.changed();
  }

  /** The shuffle's files are about to be deleted. */
  void unregister(int shuffleId) {
    if (registry != null) {
      registry.unregister(shuffleId);
    }
    forget(shuffleId);
  }

  private void forget(int shuffleId) {
    if (locator != null) {
      locator.forget(shuffleId);
    }
    reading.unregister(shuffleId);
  }

  /** Says what went which way, where that is not yet in the log. */
  void summarize() {
    reporter.say();
  }

  @Override
  public void close() {
    while (!parts.isEmpty()) {
      AutoCloseable part = parts.pop();
      try {
        part.close();
      } catch (Exception e) {
        LOG.warn("Closing {} failed", part.getClass().getSimpleName(), e);
      }
    }
  }
}
