package dev.sluice.spark;

import dev.sluice.blocks.LocalDirectories;
import dev.sluice.blocks.MapOutputListener;
import dev.sluice.blocks.MapOutputRegistry;
import dev.sluice.blocks.RegistrationUnavailableException;
import dev.sluice.blocks.RegistryLimits;
import dev.sluice.blocks.client.BlockServerClient;
import dev.sluice.blocks.node.ExecutorFolders;
import dev.sluice.blocks.server.BlockServer;
import dev.sluice.blocks.server.Stager;
import dev.sluice.blocks.wire.ControlMessages;
import dev.sluice.blocks.wire.ProcessName;
import dev.sluice.rdma.Device;
import dev.sluice.rdma.ProtectionDomain;
import dev.sluice.rdma.transfer.PeerAddress;
import dev.sluice.rdma.transfer.RdmaEndpoint;
import dev.sluice.spark.conf.NodeAccess;
import dev.sluice.spark.conf.SluiceConf;
import dev.sluice.spark.locate.DirectoryMessage.Failure;
import dev.sluice.spark.locate.ExecutorEndpoint;
import dev.sluice.spark.locate.LocatorClient;
import dev.sluice.spark.locate.Publisher;
import dev.sluice.spark.locate.SilentNodes;
import dev.sluice.spark.metrics.ExecutorMetrics;
import dev.sluice.spark.read.RdmaBlockStoreClient;
import dev.sluice.spark.reduce.ExecutorReading;
import dev.sluice.spark.transport.EndpointTransport;
import dev.sluice.spark.transport.FallbackReason;
import java.io.IOException;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * Registers, publishes, serves and READs map outputs: an executor's parts, put together in one
 * place. Where the node's block server has to serve map outputs the executor registers none, and is
 * asked for none: it hands them over, and reads its own as it does those that find no room.
 */
final class ReadingRuntime extends SluiceRuntime {
  /** Opens what blocks are READ by and served with. */
  @FunctionalInterface
  interface DeviceOpener {
    /**
     * @throws IOException when there is no device, with the reason
     */
    Device open() throws IOException;
  }

  private final SluiceConf conf;

  private final HandOver handOver;
  private final MapOutputRegistry registry;
  private final SilentNodes silentNodes = new SilentNodes(System::nanoTime);
  private final LocatorClient locator;

  /**
   * @param opener called once
   * @throws IOException when a part cannot be started, with the reason; nothing is left behind
   */
  ReadingRuntime(SluiceConf conf, Environment env, DeviceOpener opener) throws IOException {
    super(env);
    this.conf = conf;
    boolean started = false;
    try {
      BlockServerClient servers =
          started(
              new BlockServerClient(
                  self(),
                  env.network().conf(),
                  env.network().clientBootstraps(),
                  conf.transferOptions(),
                  conf.locateTimeoutMs(),
                  ReadingRuntime::clockMs));
      RdmaEndpoint endpoint = open(opener.open(), servers);
      Supplier<CompletableFuture<Void>> flush = () -> CompletableFuture.completedFuture(null);
      String server;
      if (conf.isNodeRequired()) {
        registry = started(openRegistry(endpoint, MapOutputListener.NONE));
        server = "the node's at " + conf.node().get().socket();
      } else {
        Publisher publisher = new Publisher(env.driver(), writers::any);
        registry = started(openRegistry(endpoint, publisher));
        server = serve(endpoint, publisher);
        flush = publisher::flush;
      }
      handOver = handOver(endpoint.device().providerName());
      locator = locator(endpoint, servers, flush);
      ready(
          reading(endpoint, servers),
          endpoint.device().providerName() + " " + endpoint.device().name(),
          new ExecutorMetrics(counters, endpoint.counters(), registry.counters()));
      sayStarted(endpoint.device(), server);
      started = true;
    } finally {
      if (!started) {
        close();
      }
    }
  }

  /** A second attempt of an application has the same id, and executors of the same ids. */
  private ProcessName self() {
    return new ProcessName(conf.application(), env.executor().id());
  }

  private HandOver handOver(String provider) {
    Optional<NodeAccess> access = conf.node();
    if (access.isEmpty()) {
      return HandOver.NONE;
    }
    started(ExecutorFolders.hold(env.localDirectories()));
    NodeHandOver node = started(new NodeHandOver(access.get(), self(), provider, env, counters));
    return conf.isNodeRequired()
        ? node
        : started(new BackgroundHandOver(node, env.files(), counters, this::taskEnded));
  }

  private String serve(RdmaEndpoint endpoint, Publisher publisher) throws IOException {
    BlockServer server = started(listen(endpoint, started(stager(endpoint))));
    PeerAddress self = new PeerAddress(env.executor().id(), env.executor().host(), server.port());
    started(publisher);
    publisher.start(new ExecutorEndpoint(self, endpoint.device().providerName()));
    return self.host() + ":" + self.port();
  }

  private void sayStarted(Device device, String server) {
    LOG.info(
        "Shuffle blocks are READ by provider {}, device {}; block server: {}; {} MiB for map"
            + " outputs, {} MiB for what of them is staged, {} MiB for buffers",
        device.providerName(),
        device.name(),
        server,
        conf.registrationMaxBytes() >> 20,
        conf.stagingMaxBytes() >> 20,
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
  private MapOutputRegistry openRegistry(RdmaEndpoint endpoint, MapOutputListener listener)
      throws RegistrationUnavailableException {
    ProtectionDomain domain = endpoint.protectionDomain();
    RegistryLimits limits = registryLimits(domain.registersFiles());
    LocalDirectories directories =
        limits.maxBytes() == 0
            ? LocalDirectories.unregistered(env.localDirectories())
            : LocalDirectories.probe(domain, conf.registrationMode(), env.localDirectories());
    return new MapOutputRegistry(
        domain, directories, env.files(), limits, listener, ReadingRuntime::clockMs);
  }

  /**
   * @param asFiles whether map outputs are registered as open files, or else as mappings
   */
  private RegistryLimits registryLimits(boolean asFiles) {
    return conf.readsForbidden()
        ? RegistryLimits.OFF
        : new RegistryLimits(
            conf.registrationMaxBytes(),
            conf.maxRegions(asFiles),
            conf.registrationIdleTimeoutMs(),
            ControlMessages.usable(conf.locateTimeoutMs()));
  }

  private Stager stager(RdmaEndpoint endpoint) {
    return new Stager(
        endpoint.protectionDomain(),
        registry,
        conf.stagingMaxBytes(),
        env.executor().cores(),
        System::nanoTime);
  }

  private BlockServer listen(RdmaEndpoint endpoint, Stager stager) throws IOException {
    String provider = endpoint.device().providerName();
    String bindAddress = bindAddress(env.executor().host());
    return FreePort.listen(
        conf.port(),
        conf.portRetries(),
        port ->
            new BlockServer(
                new BlockServer.Binding(
                    env.network().conf(), bindAddress, port, env.network().serverBootstraps()),
                self(),
                provider,
                endpoint,
                registry,
                stager));
  }

  /** The address that peers connect to; null, for all, where it is translated on its way here. */
  private static String bindAddress(String host) throws IOException {
    InetAddress address = InetAddress.getByName(host);
    return NetworkInterface.getByInetAddress(address) == null ? null : host;
  }

  private LocatorClient locator(
      RdmaEndpoint endpoint, BlockServerClient servers, Supplier<CompletableFuture<Void>> flush) {
    return new LocatorClient(
        new LocatorClient.Services(
            endpoint.device().providerName(),
            new LocatorClient.Driver(env.driver(), env.broadcasts(), driverThreads, flush),
            servers::resolve,
            conf.locateTimeoutMs(),
            peer -> peerLost(peer, endpoint, servers),
            System::nanoTime),
        silentNodes);
  }

  /** READs are neither encrypted nor authenticated, as Spark's network may have to be. */
  private ExecutorReading reading(RdmaEndpoint endpoint, BlockServerClient servers) {
    if (conf.readsForbidden()) {
      return ExecutorReading.without(
          env.network().client(), FallbackReason.WIRE_ENCRYPTION, counters);
    }
    RdmaBlockStoreClient client =
        started(
            RdmaBlockStoreClient.open(
                new RdmaBlockStoreClient.Stock(
                    env.network().client(), env.executor().id(), env.network().conf()),
                conf.readOptions(env.executor().cores()),
                new EndpointTransport(endpoint, servers),
                locator,
                conf.node()
                    .map(_ -> new RdmaBlockStoreClient.Nodes(silentNodes, conf.hasSparksService())),
                counters));
    return ExecutorReading.with(client, registry, counters, conf.readsOwnBlocks());
  }

  private static void peerLost(PeerAddress peer, RdmaEndpoint endpoint, BlockServerClient servers) {
    endpoint.peerLost(peer.id());
    servers.peerLost(peer);
  }

  private static long clockMs() {
    return TimeUnit.NANOSECONDS.toMillis(System.nanoTime());
  }

  MapOutputRegistry registry() {
    return registry;
  }

  @Override
  void aboutToWrite() {
    try {
      handOver.expect();
    } catch (IOException e) {
      String reason =
          NodeConfiguration.NODE + " is \"required\", which does not work here: " + e.getMessage();
      if (!Thread.currentThread().isInterrupted()) { // A task that is killed says nothing of it.
        say(new Failure(env.executor().id(), reason));
      }
      throw new IllegalStateException(reason, e);
    }
  }

  /** On the driver, where people look first. */
  private void say(Failure failure) {
    try {
      env.driver().ask(failure);
    } catch (IOException e) {
      LOG.debug("The driver does not hear why tasks fail here", e);
    }
  }

  @Override
  void committed(int shuffleId, long mapId) throws IOException {
    handOver.committed(shuffleId, mapId);
    registry.add(shuffleId, mapId);
  }

  @Override
  void unregister(int shuffleId) {
    registry.unregister(shuffleId);
    forget(shuffleId);
  }

  @Override
  public List<Integer> held() {
    return registry.shuffles();
  }

  @Override
  public void over(int shuffleId) {
    LOG.debug("Shuffle {} is over, as the driver answers a report", shuffleId);
    // Spark may register it anew in this very moment: then all of it is found again.
    registry.evict(shuffleId);
    forget(shuffleId);
  }

  private void forget(int shuffleId) {
    locator.forget(shuffleId);
    reading().client().unregisterShuffle(shuffleId);
  }
}
