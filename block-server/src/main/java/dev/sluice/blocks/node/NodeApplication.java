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
import dev.sluice.blocks.StartedParts;
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
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.stream.Collectors;
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

  private static final long REMOVALS_IDLE_MS = 10_000;

  /** Where blocks are not READ they send all of them. */
  private static final int MAX_TRANSPORT_THREADS = 8;

  private final NodeOptions options;
  private final NodeDevice device;
  private final ProcessName self;
  private final ApplicationState state;
  private final List<ApplicationFolder> folders;
  private final int[] ports;
  private final Admission admission;
  private final Runnable end;
  private final HeldShuffles held = new HeldShuffles(System::nanoTime);
  private final long openedNanos = System.nanoTime();
  private final RdmaEndpoint endpoint;
  private final MapOutputRegistry registry;
  private final BlockServer server;

  private final StartedParts parts = new StartedParts();

  /** Shared by hand-overs, until they are answered for; whoever ends them has it alone. */
  private final ReadWriteLock handOvers = new ReentrantReadWriteLock();

  /** Removes what is over, which waits for the disk. */
  private final ThreadPoolExecutor removals;

  private final AtomicBoolean renewing = new AtomicBoolean();

  private volatile long lastSignNanos = System.nanoTime();
  private volatile boolean over;
  private volatile boolean closed;

  /**
   * Serves what the folders have.
   *
   * @param nodeId what peers know the node by
   * @param ports that are tried in turn
   * @param admission decides what is taken
   * @param end called when the driver says that the application is over; must not block
   */
  NodeApplication(
      NodeDevice device,
      String nodeId,
      ApplicationState state,
      List<ApplicationFolder> folders,
      int[] ports,
      Admission admission,
      Runnable end)
      throws IOException {
    this.options = device.options();
    this.device = device;
    this.self = new ProcessName(state.name(), nodeId);
    this.state = state;
    this.folders = folders;
    this.ports = ports;
    this.admission = admission;
    this.end = end;
    removals = removals();
    parts.started(removals::shutdown);
    boolean opened = false;
    try {
      endpoint = parts.started(device.openEndpoint());
      registry = parts.started(openRegistry());
      Stager stager = parts.started(openStager());
      server = parts.started(listen(stager));
      scan();
      opened = true;
    } finally {
      if (!opened) {
        close();
      }
    }
  }

  private static ThreadPoolExecutor removals() {
    ThreadPoolExecutor removals =
        new ThreadPoolExecutor(
            1,
            1,
            REMOVALS_IDLE_MS,
            TimeUnit.MILLISECONDS,
            new LinkedBlockingQueue<>(),
            Thread.ofPlatform().daemon().name("sluice-node-remove").factory());
    removals.allowCoreThreadTimeOut(true);
    return removals;
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
    parts.started(blocks::close);
    return listen(conf, blocks, stager);
  }

  private BlockServer listen(TransportConf conf, ExternalBlockHandler blocks, Stager stager)
      throws IOException {
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
    handOvers.readLock().lock();
    try {
      if (isOver()) {
        throw new IOException(state.name() + " has ended here");
      }
      sign();
      check(shuffleId, mapId);
    } finally {
      handOvers.readLock().unlock();
    }
  }

  private void check(int shuffleId, long mapId) throws IOException {
    MapOutputFiles.Files files = find(shuffleId, mapId);
    if (files == null) {
      throw new IOException(
          "map output %d of shuffle %d is in none of %s".formatted(mapId, shuffleId, paths()));
    }
    long dataBytes = MapOutputIndex.read(files).dataBytes();
    if (!held.has(shuffleId, mapId)) {
      admission.take(files.data().getParent(), dataBytes);
    }
    if (Files.size(files.data()) != dataBytes) {
      throw new IOException(
          "%s has %d bytes, the index %d"
              .formatted(files.data(), Files.size(files.data()), dataBytes));
    }
    take(shuffleId, mapId, dataBytes);
  }

  /**
   * @throws NoSuchFileException when it was taken back meanwhile, as by an executor that does not
   *     wait any more
   */
  private void take(int shuffleId, long mapId, long dataBytes) throws IOException {
    held.add(shuffleId, mapId, dataBytes);
    registry.add(shuffleId, mapId);
    if (find(shuffleId, mapId) == null) {
      forget(shuffleId, mapId);
      throw new NoSuchFileException(
          "map output %d of shuffle %d was taken back".formatted(mapId, shuffleId));
    }
  }

  private void forget(int shuffleId, long mapId) {
    held.remove(shuffleId, mapId);
    registry.invalidate(shuffleId, mapId);
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
   * executor that died could not say any more. Forgets what does not lie there.
   */
  void scan() throws IOException {
    for (int shuffleId : held.ids()) {
      for (long mapId : held.mapIds(shuffleId)) {
        if (find(shuffleId, mapId) == null) {
          forget(shuffleId, mapId);
        }
      }
    }
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

  /** What the driver says. Never blocks; completes when it is done. */
  private CompletableFuture<Heard> hear(Lifetime lifetime) {
    Heard heard = new Heard(self.id(), System.nanoTime());
    return switch (lifetime) {
      case RemoveShuffle(int shuffleId) ->
          CompletableFuture.supplyAsync(
              () -> {
                remove(shuffleId, held.remove(shuffleId));
                return heard;
              },
              removals);
      case Renew renewal -> {
        removeOver(renewal);
        yield CompletableFuture.completedFuture(heard);
      }
      case EndApplication() -> CompletableFuture.completedFuture(heard);
    };
  }

  /** Soon; where the disk is slower than renewals come, they are not heaped up. */
  private void removeOver(Renew renewal) {
    if (!renewal.lastHeard().nodeId().equals(self.id()) || !renewing.compareAndSet(false, true)) {
      return;
    }
    CompletableFuture.runAsync(() -> removeBut(renewal), removals)
        .whenComplete(
            (_, failure) -> {
              renewing.set(false);
              if (failure != null) {
                LOG.warn("What is over of {} stays for now", self, failure);
              }
            });
  }

  private void removeBut(Renew renewal) {
    Set<Integer> over = new HashSet<>(held.ids());
    Arrays.stream(renewal.liveShuffles()).forEach(over::remove);
    for (int shuffleId : over) {
      remove(shuffleId, held.removeIfOlder(shuffleId, renewal.lastHeard().nodeNanos()));
    }
  }

  /**
   * @param mapIds that are not known any more; others are added to the shuffle meanwhile
   */
  private void remove(int shuffleId, Set<Long> mapIds) {
    if (mapIds.isEmpty()) {
      return;
    }
    registry.unregister(shuffleId);
    for (long mapId : mapIds) {
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

  /**
   * Takes no hand-over any more, and returns when none is under way; unless there was a sign of the
   * application within this time, or the daemon stops and leaves it to the next one.
   *
   * @return whether it is so
   */
  boolean endHandOvers(Duration silence) {
    handOvers.writeLock().lock();
    try {
      over |= silence.isZero() || silentNanos() >= silence.toNanos();
      return over && !closed;
    } finally {
      handOvers.writeLock().unlock();
    }
  }

  /** Whether hand-overs are of no use any more. */
  boolean isOver() {
    return over || closed;
  }

  /** Serves nothing any more; the folders stay. Idempotent. */
  @Override
  public synchronized void close() {
    closed = true;
    parts.close();
  }
}
