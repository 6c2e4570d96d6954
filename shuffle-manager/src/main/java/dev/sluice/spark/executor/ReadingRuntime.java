// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.executor;

import static java.util.Objects.requireNonNull;

import dev.sluice.blocks.client.BlockServerClient;
import dev.sluice.blocks.directory.LocalDirectories;
import dev.sluice.blocks.directory.RegistrationUnavailableException;
import dev.sluice.blocks.directory.RegistryLimits;
import dev.sluice.blocks.handover.ExecutorFolders;
import dev.sluice.blocks.registry.MapOutputFiles;
import dev.sluice.blocks.registry.MapOutputRegistry;
import dev.sluice.blocks.server.BlockServer;
import dev.sluice.blocks.staging.Stager;
import dev.sluice.blocks.wire.ControlMessages;
import dev.sluice.blocks.wire.ProcessName;
import dev.sluice.rdma.Device;
import dev.sluice.rdma.ProtectionDomain;
import dev.sluice.rdma.transfer.PeerAddress;
import dev.sluice.rdma.transfer.RdmaEndpoint;
import dev.sluice.spark.conf.NodeAccess;
import dev.sluice.spark.conf.SluiceConf;
import dev.sluice.spark.fetch.RdmaBlockStoreClient;
import dev.sluice.spark.fetch.ShuffleClient;
import dev.sluice.spark.locate.DirectoryMessage.MemoryLimits;
import dev.sluice.spark.locate.DirectoryMessage.Started;
import dev.sluice.spark.locate.ExecutorEndpoint;
import dev.sluice.spark.locate.LocatorClient;
import dev.sluice.spark.locate.Publisher;
import dev.sluice.spark.locate.UnresponsiveNodes;
import dev.sluice.spark.metrics.ExecutorMetrics;
import dev.sluice.spark.reduce.ExecutorFetching;
import dev.sluice.spark.transport.EndpointTransport;
import dev.sluice.spark.transport.FallbackReason;
import java.io.IOException;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.apache.spark.util.Utils;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runtime of an executor with RDMA: assembles the parts that register, publish, serve and READ map
 * outputs. With {@code spark.shuffle.rdma.node=on} it hands map outputs over to the node daemon. It
 * registers none of these, and reads its own from their files. When the daemon first refuses a map
 * output, the executor is published and serves all map outputs it wrote. It registers those that
 * stay, and others only when a peer asks for them.
 *
 * <p>{@link SluiceRuntime} names threads and owner. A part that needs closing goes through {@link
 * #started} at once, or a failed start leaks it. They close in the reverse order of these calls.
 */
public final class ReadingRuntime extends SluiceRuntime {
  /** Opens the device that READs and serves blocks. */
  @FunctionalInterface
  public interface DeviceOpener {
    /**
     * @param refused takes the reason why a better provider is not used
     * @throws IOException if there is no device; the message is the reason
     */
    Device open(Consumer<String> refused) throws IOException;
  }

  /** Longest wait at the start for the driver's answer, below the limit of a start. */
  private static final long MAX_ANNOUNCEMENT_MS = 10_000;

  private final SluiceConf conf;

  private final MapOutputRegistry registry;
  private final ExecutorEndpoint server;
  private final Publisher publisher;

  /** Empty if the executor serves all its map outputs. */
  private final Optional<NodeHandOver> handOver;

  private final UnresponsiveNodes unresponsiveNodes = new UnresponsiveNodes(System::nanoTime);
  private final LocatorClient locator;

  /**
   * @param opener called once
   * @throws IOException if a part cannot be started, with the reason; all parts are closed then
   */
  public ReadingRuntime(SluiceConf conf, Environment env, DeviceOpener opener) throws IOException {
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
                  ReadingRuntime::clockMs,
                  blocking));
      AtomicReference<String> refusal = new AtomicReference<>("");
      RdmaEndpoint endpoint = open(opener.open(refusal::set), servers);
      publisher = new Publisher(env.driver(), writers::any, driverThreads);
      registry = started(openRegistry(endpoint));
      server = serve(endpoint);
      started(publisher); // It closes before the block server that it has announced.
      CompletableFuture<Void> announced =
          conf.isNodeRequired() ? CompletableFuture.completedFuture(null) : publisher.start(server);
      handOver = conf.node().map(this::handOver);
      locator = locator(endpoint, servers);
      ready(
          reading(endpoint, servers),
          description(endpoint.device(), requireNonNull(refusal.get())),
          new ExecutorMetrics(counters, endpoint, registry.counters()));
      sayStarted(endpoint.device());
      awaitAnnounced(announced);
      started = true;
    } finally {
      if (!started) {
        close();
      }
    }
  }

  /**
   * Waits until the driver knows this executor. Otherwise reduce tasks elsewhere could ask the
   * driver first, and would fetch this executor's map outputs by Spark's own transfer.
   */
  private void awaitAnnounced(CompletableFuture<Void> announced) {
    long limitMs = Math.min(conf.locateTimeoutMs(), MAX_ANNOUNCEMENT_MS);
    boolean isKnown =
        announced
            .thenApply(_ -> true)
            .completeOnTimeout(false, limitMs, TimeUnit.MILLISECONDS)
            .join();
    if (!isKnown) {
      LOG.warn(
          "The driver has not answered this executor's announcement within {} ms; until it does,"
              + " others fetch this executor's map outputs by Spark's own transfer"
              + " (spark.shuffle.rdma.locate.timeout)",
          limitMs);
    }
  }

  /** Includes the run of the application: a second attempt has the same id and executor ids. */
  private ProcessName self() {
    return new ProcessName(conf.application(), env.executor().id());
  }

  private NodeHandOver handOver(NodeAccess access) {
    started(ExecutorFolders.hold(env.localDirectories()));
    NodeHandOver made =
        started(
            new NodeHandOver(
                access,
                self(),
                server.provider(),
                env,
                keptOutputs(conf, env, Optional.of(server)),
                counters,
                blocking));
    driverThreads.scheduleWithFixedDelay(
        made::refresh,
        NodeHandOver.REFRESH_EVERY_MS,
        NodeHandOver.REFRESH_EVERY_MS,
        TimeUnit.MILLISECONDS);
    return made;
  }

  private ExecutorEndpoint serve(RdmaEndpoint endpoint) throws IOException {
    BlockServer listening = started(listen(endpoint, started(stager(endpoint))));
    PeerAddress self =
        new PeerAddress(env.executor().id(), env.executor().host(), listening.port());
    return new ExecutorEndpoint(self, endpoint.device().providerName());
  }

  private void sayStarted(Device device) {
    LOG.info(
        "Shuffle blocks are READ by provider {}, device {}; block server: {}:{}{}; {} MiB for"
            + " registered map outputs, {} MiB for staging, {} MiB for buffers",
        device.providerName(),
        device.name(),
        server.peer().host(),
        server.peer().port(),
        conf.isNodeRequired()
            ? ", for map outputs that the node daemon at "
                + conf.node().get().socket()
                + " does not take"
            : "",
        conf.registrationMaxBytes() >> 20,
        conf.stagingMaxBytes() >> 20,
        conf.buffersMaxBytes() >> 20);
  }

  private Started description(Device device, String refusal) {
    return new Started(
        env.executor().id(),
        device.providerName(),
        device.name(),
        device.gid().toString(),
        server.peer().host() + ":" + server.peer().port(),
        refusal,
        new MemoryLimits(
            conf.registrationMaxBytes(), conf.stagingMaxBytes(), conf.buffersMaxBytes()));
  }

  /** Opens the endpoint, which closes the device if it fails. Another close has no effect. */
  private RdmaEndpoint open(Device device, BlockServerClient servers) throws IOException {
    try {
      return started(RdmaEndpoint.open(device, conf.transferOptions(), servers));
    } catch (IOException | RuntimeException e) {
      device.close();
      throw e;
    }
  }

  /** Opens the registry. Probes local directories only if anything may be registered at all. */
  private MapOutputRegistry openRegistry(RdmaEndpoint endpoint)
      throws RegistrationUnavailableException {
    ProtectionDomain domain = endpoint.protectionDomain();
    RegistryLimits limits = registryLimits(domain.registersFiles());
    LocalDirectories directories =
        limits.maxBytes() == 0
            ? LocalDirectories.unregistered(env.localDirectories())
            : LocalDirectories.probe(domain, conf.registrationMode(), env.localDirectories());
    return new MapOutputRegistry(
        domain, directories, env.files(), limits, publisher, ReadingRuntime::clockMs);
  }

  /**
   * @param asFiles true if map outputs are registered as open files, false if as mappings
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
        System::nanoTime,
        timer);
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

  /**
   * Returns the address that peers connect to; null, which binds to all addresses, if the host's
   * address is translated on its way here.
   */
  private static @Nullable String bindAddress(String host) throws IOException {
    InetAddress address = InetAddress.getByName(host);
    return NetworkInterface.getByInetAddress(address) == null ? null : host;
  }

  private LocatorClient locator(RdmaEndpoint endpoint, BlockServerClient servers) {
    return new LocatorClient(
        new LocatorClient.Services(
            endpoint.device().providerName(),
            new LocatorClient.Driver(
                env.driver(), env.broadcasts(), driverThreads, blocking, publisher::flush),
            servers::resolve,
            conf.locateTimeoutMs(),
            peer -> peerLost(peer, endpoint, servers),
            System::nanoTime),
        unresponsiveNodes);
  }

  /** Disables READs where Spark must encrypt: they are neither encrypted nor authenticated. */
  private ExecutorFetching reading(RdmaEndpoint endpoint, BlockServerClient servers) {
    if (conf.readsForbidden()) {
      return ExecutorFetching.without(
          ShuffleClient.without(env.network().client(), FallbackReason.WIRE_ENCRYPTION, counters),
          counters);
    }
    RdmaBlockStoreClient client =
        started(
            RdmaBlockStoreClient.open(
                new RdmaBlockStoreClient.Stock(
                    env.network().client(), env.executor().id(), env.network().conf()),
                conf.readOptions(env.executor().cores()),
                new EndpointTransport(endpoint, servers),
                locator,
                conf.node().map(_ -> nodes(conf, unresponsiveNodes)),
                counters,
                timer,
                blocking));
    return ExecutorFetching.with(client, registry, counters, conf.readsOwnBlocks());
  }

  private static void peerLost(PeerAddress peer, RdmaEndpoint endpoint, BlockServerClient servers) {
    endpoint.peerLost(peer.id());
    servers.peerLost(peer);
  }

  private static long clockMs() {
    return TimeUnit.NANOSECONDS.toMillis(System.nanoTime());
  }

  public MapOutputRegistry registry() {
    return registry;
  }

  @Override
  ShuffleClient off() {
    return conf.isNodeRequired() ? fromNodes(conf, locator, unresponsiveNodes) : fromExecutors();
  }

  @Override
  public void aboutToWrite() {
    handOver.ifPresent(NodeHandOver::expect);
  }

  @Override
  public void committed(int shuffleId, long mapId) throws IOException {
    Optional<MapOutputFiles.Files> handedOver =
        handOver.isPresent() ? handOver.get().committed(shuffleId, mapId) : Optional.empty();
    if (handedOver.isPresent()) {
      registry.addUnserved(shuffleId, mapId, handedOver.get());
    } else {
      publisher.start(server);
      registry.add(shuffleId, mapId);
    }
  }

  @Override
  public void unregister(int shuffleId) {
    registry.unregister(shuffleId);
    forget(shuffleId);
  }

  @Override
  public List<Integer> held() {
    return registry.shuffles();
  }

  @Override
  public void over(int shuffleId) {
    LOG.debug("Shuffle {} is over, according to the driver's answer to a report", shuffleId);
    // If Spark registers the shuffle again at this moment, all of it is found again.
    registry.evict(shuffleId);
    forget(shuffleId);
  }

  private void forget(int shuffleId) {
    locator.forget(shuffleId);
    reading().client().unregisterShuffle(shuffleId);
  }

  /**
   * Listens at a port or one of the next ports, by Spark's rules for its own services. {@link
   * ReadingRuntime} opens the block server by it, on the thread that starts the runtime.
   */
  static final class FreePort {
    private static final Logger LOG = LoggerFactory.getLogger(FreePort.class);

    private FreePort() {}

    /** Server that is to listen. Netty throws an IOException that it does not declare. */
    @FunctionalInterface
    interface Service<T> {
      T listen(int port) throws IOException;
    }

    /**
     * Listens at the first free port.
     *
     * @param port the first port to try; 0 for any free port
     * @param retries number of further ports to try if it is taken
     * @param service listens at a port, or throws
     */
    static <T> T listen(int port, int retries, Service<T> service) throws IOException {
      for (int tried = 0; ; tried++) {
        int next = port == 0 ? 0 : Utils.userPort(port, tried);
        try {
          return service.listen(next);
        } catch (IOException | RuntimeException e) {
          if (!Utils.isBindCollision(e)) {
            throw e;
          }
          if (port == 0 || tried == retries) {
            throw new IOException(
                "None of " + (1 + tried) + " ports from " + port + " on is free", e);
          }
          LOG.info("Port {} is taken; trying the next one", next);
        }
      }
    }
  }
}
