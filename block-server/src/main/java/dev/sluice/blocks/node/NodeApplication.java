package dev.sluice.blocks.node;

import dev.sluice.blocks.BlockServer;
import dev.sluice.blocks.EndpointAcceptor;
import dev.sluice.blocks.LocalDirectories;
import dev.sluice.blocks.MapOutputFiles;
import dev.sluice.blocks.MapOutputIndex;
import dev.sluice.blocks.MapOutputListener;
import dev.sluice.blocks.MapOutputRegistry;
import dev.sluice.blocks.RegistrationMode;
import dev.sluice.blocks.RegistryCounters;
import dev.sluice.blocks.Stager;
import dev.sluice.blocks.wire.LifetimeMessages.EndApplication;
import dev.sluice.blocks.wire.LifetimeMessages.Heard;
import dev.sluice.blocks.wire.LifetimeMessages.Lifetime;
import dev.sluice.blocks.wire.LifetimeMessages.RemoveShuffle;
import dev.sluice.blocks.wire.LifetimeMessages.Renew;
import dev.sluice.blocks.wire.NodeMessages.Entered;
import dev.sluice.blocks.wire.ProcessName;
import dev.sluice.rdma.transfer.RdmaEndpoint;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.security.MessageDigest;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.spark.network.crypto.AuthServerBootstrap;
import org.apache.spark.network.sasl.SecretKeyHolder;
import org.apache.spark.network.server.OneForOneStreamManager;
import org.apache.spark.network.server.TransportServerBootstrap;
import org.apache.spark.network.shuffle.ExternalBlockHandler;
import org.apache.spark.network.util.MapConfigProvider;
import org.apache.spark.network.util.TransportConf;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One application at a node: its folders, and what serves them. It has a device of its own with its
 * own protection domain, its own registered and staging memory, and its own port where its secret
 * is asked for: so no process of another application reaches its bytes, whatever key it guesses.
 *
 * <p>Any thread. Opened and closed by {@link NodeDaemon}. Costs the device's threads, those of the
 * registry and of the stager, and 2 to 8 for the port.
 */
final class NodeApplication implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(NodeApplication.class);

  /** Longer than a list of live shuffles takes from the driver's table to here. */
  private static final long RENEWAL_GRACE_NANOS = TimeUnit.MINUTES.toNanos(1);

  /** Where blocks are not READ they send all of them. */
  private static final int MAX_TRANSPORT_THREADS = 8;

  private final NodeOptions options;
  private final NodeDevice device;
  private final ProcessName self;
  private final ApplicationState state;
  private final List<ApplicationFolder> folders;
  private final Runnable end;
  private final HeldShuffles held = new HeldShuffles(System::nanoTime);
  private final long openedNanos = System.nanoTime();
  private final RdmaEndpoint endpoint;
  private final MapOutputRegistry registry;
  private final BlockServer server;

  /** What is to be closed, what was started last first. */
  private final Deque<AutoCloseable> parts = new ArrayDeque<>();

  private volatile long lastSignNanos = System.nanoTime();
  private volatile boolean closed;

  /**
   * Serves what the folders have.
   *
   * @param nodeId what peers know the node by
   * @param state its port is tried first
   * @param end called when the driver says that the application is over; must not block
   */
  NodeApplication(
      NodeDevice device,
      String nodeId,
      ApplicationState state,
      List<ApplicationFolder> folders,
      Runnable end)
      throws IOException {
    this.options = device.options();
    this.device = device;
    this.self = new ProcessName(state.name(), nodeId);
    this.state = state;
    this.folders = folders;
    this.end = end;
    boolean opened = false;
    try {
      endpoint = started(device.openEndpoint());
      registry = started(openRegistry());
      Stager stager = started(openStager());
      server = started(listen(stager));
      scan();
      opened = true;
    } finally {
      if (!opened) {
        close();
      }
    }
  }

  private <T extends AutoCloseable> T started(T part) {
    parts.push(part);
    return part;
  }

  private MapOutputRegistry openRegistry() throws IOException {
    return new MapOutputRegistry(
        endpoint.protectionDomain(),
        LocalDirectories.probe(
            endpoint.protectionDomain(),
            RegistrationMode.AUTO,
            folders.stream().map(ApplicationFolder::path).toList()),
        this::find,
        device.memory().registryLimits(endpoint.protectionDomain().registersFiles()),
        MapOutputListener.NONE,
        () -> TimeUnit.NANOSECONDS.toMillis(System.nanoTime()));
  }

  private Stager openStager() {
    return new Stager(
        endpoint.protectionDomain(),
        registry,
        device.memory().stagingBytes(),
        Runtime.getRuntime().availableProcessors(),
        System::nanoTime);
  }

  private BlockServer listen(Stager stager) throws IOException {
    TransportConf conf = transportConf();
    ExternalBlockHandler blocks =
        new ExternalBlockHandler(
            new OneForOneStreamManager(),
            new NodeBlockResolver(conf, state.name(), this::find, registry));
    started(blocks::close);
    return listen(conf, blocks, stager);
  }

  /** At its own port if it is free, or at another one. */
  private BlockServer listen(TransportConf conf, ExternalBlockHandler blocks, Stager stager)
      throws IOException {
    NodeOptions.Ports range = options.ports();
    int[] ports =
        IntStream.concat(
                IntStream.of(state.port()), IntStream.rangeClosed(range.first(), range.last()))
            .filter(port -> port > 0 || range.last() == 0)
            .distinct()
            .toArray();
    Exception failure = null;
    for (int port : ports) {
      try {
        return listen(conf, blocks, stager, port);
      } catch (Exception e) { // Netty throws a BindException that it does not declare.
        failure = e;
        LOG.debug("{} does not listen at port {}", self, port, e);
      }
    }
    throw new IOException("No port is free of " + Arrays.toString(ports), failure);
  }

  private BlockServer listen(
      TransportConf conf, ExternalBlockHandler blocks, Stager stager, int port) throws IOException {
    return new BlockServer(
        new BlockServer.Binding(conf, bindAddress(), port, bootstraps(conf)),
        self,
        endpoint.device().providerName(),
        new EndpointAcceptor(endpoint),
        registry,
        stager,
        peers -> new NodeHandler(peers, blocks, this::hear, end, this::sign));
  }

  /** The address that readers connect to; null, for all, where it is translated on its way here. */
  private String bindAddress() throws IOException {
    InetAddress address = InetAddress.getByName(options.host());
    return NetworkInterface.getByInetAddress(address) == null ? null : options.host();
  }

  /** With SASL, which {@code spark.authenticate} alone means, as well as Spark's own AES. */
  private static TransportConf transportConf() {
    int threads = Math.clamp(Runtime.getRuntime().availableProcessors(), 2, MAX_TRANSPORT_THREADS);
    return new TransportConf(
        "sluice",
        new MapConfigProvider(
            Map.of(
                "spark.sluice.io.serverThreads", Integer.toString(threads),
                "spark.network.crypto.enabled", "true",
                "spark.network.crypto.saslFallback", "true")));
  }

  private List<TransportServerBootstrap> bootstraps(TransportConf conf) {
    return state.secret().isEmpty()
        ? List.of()
        : List.of(new AuthServerBootstrap(conf, new Secret(state.secret())));
  }

  private record Secret(String secret) implements SecretKeyHolder {
    /** As Spark's SecurityManager has it. */
    @Override
    public String getSaslUser(String appId) {
      return "sparkSaslUser";
    }

    /** There is one application here, whatever it calls itself. */
    @Override
    public String getSecretKey(String appId) {
      return secret;
    }
  }

  String name() {
    return state.name();
  }

  /** With the port that it listens on. */
  ApplicationState state() {
    return new ApplicationState(state.name(), state.secret(), server.port());
  }

  boolean hasSecret(String secret) {
    return MessageDigest.isEqual(
        state.secret().getBytes(StandardCharsets.UTF_8), secret.getBytes(StandardCharsets.UTF_8));
  }

  /** An executor enters: what it has to know. */
  Entered entered() throws IOException {
    sign();
    return new Entered(
        self.id(),
        options.host(),
        server.port(),
        endpoint.device().providerName(),
        folders.stream().map(folder -> folder.path().toString()).toList());
  }

  /** The application lives, as far as is known. */
  void sign() {
    lastSignNanos = System.nanoTime();
  }

  /** For so long none of its processes has said anything, READs apart. */
  long silentNanos() {
    return System.nanoTime() - lastSignNanos;
  }

  /**
   * Takes a map output that an executor has put into one of the folders.
   *
   * @throws IOException when it is refused, with the reason
   */
  void handOver(int shuffleId, long mapId) throws IOException {
    sign();
    if (closed) {
      throw new IOException(state.name() + " has ended here");
    }
    MapOutputFiles.Files files = find(shuffleId, mapId);
    if (files == null) {
      throw new IOException(
          "map output %d of shuffle %d is in none of %s".formatted(mapId, shuffleId, paths()));
    }
    checkSpace(files);
    long dataBytes = MapOutputIndex.read(files).dataBytes();
    if (Files.size(files.data()) != dataBytes) {
      throw new IOException(
          "%s has %d bytes, the index %d"
              .formatted(files.data(), Files.size(files.data()), dataBytes));
    }
    take(shuffleId, mapId, dataBytes);
  }

  private void checkSpace(MapOutputFiles.Files files) throws IOException {
    long free = files.data().getParent().toFile().getUsableSpace();
    if (free < options.minFreeBytes()) {
      throw new IOException(
          "%d bytes are free on the file system of %s, fewer than %d (%s)"
              .formatted(
                  free, files.data(), options.minFreeBytes(), NodeSetting.MIN_FREE_BYTES.key()));
    }
  }

  private void take(int shuffleId, long mapId, long dataBytes) {
    held.add(shuffleId, mapId, dataBytes);
    registry.add(shuffleId, mapId);
  }

  private String paths() {
    return folders.stream()
        .map(folder -> folder.path().toString())
        .collect(Collectors.joining(", "));
  }

  private MapOutputFiles.Files find(int shuffleId, long mapId) throws IOException {
    for (ApplicationFolder folder : folders) {
      MapOutputFiles.Files files = folder.find(shuffleId, mapId);
      if (files != null) {
        return files;
      }
    }
    return null;
  }

  /**
   * Takes what lies in the folders and is not known: all of it after a start, and later on what an
   * executor that died could not say any more.
   */
  void scan() throws IOException {
    for (ApplicationFolder folder : folders) {
      folder.removeUnfinished(options.expireAfter());
      folder.forEach(
          (shuffleId, mapId) -> {
            if (!held.has(shuffleId, mapId)) {
              takeFound(shuffleId, mapId);
            }
          });
    }
  }

  /** Whether its files fit together the registry finds out, in its own time. */
  private void takeFound(int shuffleId, long mapId) throws IOException {
    MapOutputFiles.Files files = find(shuffleId, mapId);
    try {
      if (files != null) {
        take(shuffleId, mapId, Files.size(files.data()));
      }
    } catch (NoSuchFileException e) {
      LOG.debug("Map output {} of shuffle {} is just removed", mapId, shuffleId, e);
    }
  }

  /** What the driver says. May block as a disk does. */
  private Heard hear(Lifetime lifetime) {
    switch (lifetime) {
      case RemoveShuffle(int shuffleId) -> removeShuffle(shuffleId);
      case Renew(int[] liveShuffles) -> renew(liveShuffles);
      case EndApplication() -> held.over(Set.of(), 0).forEach(this::removeShuffle);
    }
    return new Heard(self.id());
  }

  private void renew(int[] liveShuffles) {
    Set<Integer> live = Arrays.stream(liveShuffles).boxed().collect(Collectors.toSet());
    held.over(live, RENEWAL_GRACE_NANOS).forEach(this::removeShuffle);
  }

  private void removeShuffle(int shuffleId) {
    registry.unregister(shuffleId);
    for (long mapId : held.remove(shuffleId)) {
      try {
        for (ApplicationFolder folder : folders) {
          folder.remove(shuffleId, mapId);
        }
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }

  HeldShuffles held() {
    return held;
  }

  RegistryCounters registryCounters() {
    return registry.counters();
  }

  RdmaEndpoint endpoint() {
    return endpoint;
  }

  /** Provider and name. */
  String device() {
    return endpoint.device().providerName() + " " + endpoint.device().name();
  }

  long ageNanos() {
    return System.nanoTime() - openedNanos;
  }

  /** Whether hand-overs are of no use any more. */
  boolean isClosed() {
    return closed;
  }

  /** Serves nothing any more; the folders stay. Idempotent. */
  @Override
  public synchronized void close() {
    closed = true;
    while (!parts.isEmpty()) {
      AutoCloseable part = parts.pop();
      try {
        part.close();
      } catch (Exception e) {
        LOG.warn("Closing {} of {} failed", part.getClass().getSimpleName(), self, e);
      }
    }
  }
}
